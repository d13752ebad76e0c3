import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { call, say, scriptedModel, stall } from "@millrace/core/testing";
import { sessionId } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import type { Session } from "../session/session.ts";
import { DriverLife, shareLife } from "./life.ts";
import { defaultTimes } from "./observation.ts";
import type { LifeTimes } from "./observation.ts";

const patience = { timeout: 120_000 };
/** Only a release can end this driver's wait within a test. */
const neverDead: LifeTimes = { ...defaultTimes, deadMs: 600_000 };
const quick: LifeTimes = { beatMs: 10, deadMs: 100, gapMs: 5_000 };

/** The store as one more process has it: a copy has a driver name of its own. */
function ofProcess(
  shared: SessionStore,
  times: LifeTimes,
  changes: Partial<SessionStore> = {},
): SessionStore {
  const store = { ...shared, ...changes };
  const life = new DriverLife({ clock: systemClock, times });
  shareLife(store, systemClock, life);
  return store;
}

/** An effectful tool that counts its executions, and calls `after` once in each. */
function countingTool(after: () => Promise<void> = async () => undefined) {
  const count = { runs: 0 };
  const tool = defineTool({
    name: "pay",
    input: z.object({}),
    run: async () => {
      count.runs += 1;
      await after();
      return "paid";
    },
  });
  return { tool, count };
}

function statusesOf(session: Session): readonly string[] {
  const parts = session.transcript.flatMap((item) => item.parts);
  return parts.flatMap((part) => (part.kind === "tool_result" ? [part.status] : []));
}

describe("a run in progress", () => {
  it("is taken over at once when its driver has released it", patience, async () => {
    const [shared, log] = [memorySessionStore(), memoryEventLog()];
    const first = defineAgent({ model: scriptedModel([[say("Of the first"), stall()]]) });
    const second = defineAgent({ model: scriptedModel([[say("Of the second.")]]) });
    const here = await first.open({ id: "s", store: ofProcess(shared, quick), log });
    const run = here.send("go");
    await run.until("content_delta");
    await using there = await second.open({ id: "s", store: ofProcess(shared, neverDead), log });
    const seen = there.run?.result;

    await here.close();

    expect(await seen).toMatchObject({ outcome: "completed", text: "Of the second." });
  });

  it("is taken over when its driver has stopped beating", patience, async () => {
    const [shared, log] = [memorySessionStore(), memoryEventLog()];
    const drivers = shared.drivers;
    if (drivers === undefined) throw new Error("the store has no index");
    const killed = { value: false };
    const beat = async (name: string): Promise<void> => {
      if (!killed.value) await drivers.beat(name);
    };
    const first = defineAgent({ model: scriptedModel([[say("Of the first"), stall()]]) });
    const second = defineAgent({ model: scriptedModel([[say("Of the second.")]]) });
    const dying = ofProcess(shared, quick, { drivers: { ...drivers, beat } });
    const here = await first.open({ id: "s", store: dying, log });
    await here.send("go").until("content_delta");
    await using there = await second.open({
      id: "s",
      store: ofProcess(shared, { ...quick, deadMs: 300 }),
      log,
    });
    await new Promise((resolve) => setTimeout(resolve, 600)); // twice as long as a dead driver is given
    expect((await shared.find("s"))?.incarnation).toBe(1);
    const seen = there.run?.result;

    killed.value = true;

    expect(await seen).toMatchObject({ outcome: "completed", text: "Of the second." });
    expect((await shared.find("s"))?.incarnation).toBe(2);
    await here.close();
  });

  it("stays with an engine that is silent, until the engine releases it", patience, async () => {
    const [shared, log] = [memorySessionStore(), memoryEventLog()];
    const first = defineAgent({ model: scriptedModel([[say("Of the first"), stall()]]) });
    const second = defineAgent({ model: scriptedModel([[say("Of the second.")]]) });
    const claim: SessionStore["claim"] = (uid, request) =>
      shared.claim(uid, { ...request, by: "engine_1" });
    const silent = { ...quick, beatMs: 600_000 };
    const here = await first.open({ id: "s", store: ofProcess(shared, silent, { claim }), log });
    await here.send("go").until("content_delta");
    await using there = await second.open({ id: "s", store: ofProcess(shared, quick), log });
    const seen = there.run?.result;
    await new Promise((resolve) => setTimeout(resolve, 10 * quick.deadMs));
    expect((await shared.find("s"))?.incarnation).toBe(1);

    await here.close();

    expect(await seen).toMatchObject({ outcome: "completed", text: "Of the second." });
  });

  it(
    "stays with a driver whose log is cut off, and keeps the result of its tool",
    patience,
    async () => {
      const shared = memorySessionStore();
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { tool, count } = countingTool(() => {
        begun.resolve();
        return end.promise;
      });
      const model = scriptedModel([[call("pay", {})], [say("Paid.")]]);
      const agent = defineAgent({ model, tools: [tool] });
      // Each has a log of its own: no message of one reaches the other.
      const here = await agent.open({ id: "s", store: { ...shared }, log: memoryEventLog() });
      const run = here.send("pay");
      await begun.promise;
      await using there = await agent.open({
        id: "s",
        store: { ...shared },
        log: memoryEventLog(),
      });
      await new Promise((resolve) => setTimeout(resolve, 3_500)); // longer than a dead driver is given
      end.resolve();

      expect(await run.result).toMatchObject({ outcome: "completed", text: "Paid." });
      expect(statusesOf(here as unknown as Session)).toEqual(["ok"]);
      expect(count.runs).toBe(1);
      expect((await shared.find(sessionId("s")))?.incarnation).toBe(1);
      await here.close();
      await there.close();
    },
  );
});
