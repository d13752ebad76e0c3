import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import type { ClaimOutcome, SessionStore } from "@millrace/core/ports";
import { call, say, scriptedModel, stall } from "@millrace/core/testing";
import { sessionId } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import type { Session } from "../session/session.ts";
import { runs } from "../../../../tests/kit/runs.ts";
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

const moments = [
  "between the intent and the effect",
  "between the effect and its settlement",
  "before the answer to the claim",
] as const;

/** Lets a second process take the run at one moment of the first. Returns how often the tool ran. */
async function forceClaim(moment: (typeof moments)[number]) {
  const [shared, log] = [memorySessionStore(), memoryEventLog()];
  const drivers = shared.drivers;
  if (drivers === undefined) throw new Error("the store has no index");
  const forced = { value: false };
  const { uid } = await shared.create({ sessionId: "s" });
  /** Resolves when the second process has claimed. */
  const taken = async (): Promise<void> => {
    if (forced.value) return;
    const before = (await shared.find("s"))?.incarnation ?? 0;
    forced.value = true;
    while (((await shared.find("s"))?.incarnation ?? 0) <= before)
      await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const first = ofProcess(shared, neverDead, {
    open: async (of, request) => {
      const answer = await shared.open(of, request);
      if (request.intent !== undefined && moment === moments[0]) await taken();
      return answer;
    },
    claim: async (of, request): Promise<ClaimOutcome> => {
      const answer = await shared.claim(of, request);
      if (answer.outcome === "claimed" && moment === moments[2]) await taken();
      return answer;
    },
  });
  // The second process finds no driver from that moment on, as if the first were dead.
  const find: typeof drivers.find = async (of) =>
    forced.value ? undefined : ((await drivers.find(of)) ?? { driver: "none yet", beat: 1 });
  const second = ofProcess(shared, quick, { drivers: { ...drivers, find } });
  const { tool, count } = countingTool(moment === moments[1] ? taken : undefined);
  const model = scriptedModel([[call("pay", {})], [say("Paid.")]]);
  const agent = defineAgent({ model, tools: [tool] });
  const here = await agent.open({ id: "s", store: first, log });
  const run = here.send("pay");
  await run.accepted;
  const there = await agent.open({ id: "s", store: second, log });
  const { outcome } = await run.result;
  const facts = await shared.read(uid);
  const intents = facts.filter(({ type }) => type === "tool_execution_started").length;
  const claims = facts.filter(({ type }) => type === "session_claimed").length;
  await here.close();
  await there.close();
  return { runs: count.runs, outcome, intents, claims };
}

it(
  "a claim at the worst moment never runs an effectful tool twice",
  { timeout: 300_000 },
  async () => {
    const times = runs(21, 201);
    for (let at = 0; at < times; at += 1) {
      const moment = moments[at % moments.length] ?? moments[0];
      const trial = await forceClaim(moment);

      expect({ moment, ...trial }).toMatchObject({ moment, outcome: "completed", intents: 1 });
      expect(trial.claims).toBeGreaterThanOrEqual(2);
      expect(trial.runs).toBeLessThanOrEqual(1);
      if (moment !== moments[0]) expect(trial.runs).toBe(1);
    }
    console.log(`count: forced claims at the worst moment, ${times} claims, 0 effects twice`);
  },
);
