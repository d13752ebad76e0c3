/** Waiting for people holds no lane, no execution and no timer, and outlives every process. */
import { createInbox } from "@millrace/core";
import { sessionId } from "@millrace/core/writing";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import { describe, expect, it, vi } from "vitest";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { startChild } from "../../packages/stores/src/testing/child.ts";
import { paid, waitingAgent } from "./agent.ts";
import { openPlaces } from "./places.ts";

/** The same object, with a count of the calls of each method. */
function counted<T extends object>(
  target: T,
): { readonly calls: Map<string, number>; readonly it: T } {
  const calls = new Map<string, number>();
  const it = new Proxy(target, {
    get: (object, name, receiver) => {
      const value: unknown = Reflect.get(object, name, receiver);
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
        return Reflect.apply(value, object, given);
      };
    },
  });
  return { calls, it };
}

describe("an approval and a tool that a client answers", () => {
  it("are waited for a day without a lane, a batch, or a store call beyond the poll of the head", async () => {
    const clock = manualClock(1_000);
    const { it: store, calls: ofStore } = counted<SessionStore>(memorySessionStore({ clock }));
    const { it: log, calls: ofLog } = counted<EventLog>(memoryEventLog());
    await using session = await waitingAgent().open({ id: "s", store, log, clock });
    const run = session.send("go");
    for (let round = 0; round < 2_000 && session.approvals.length === 0; round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(1);
    }
    await clock.advance(2_000);
    const record = await store.find(session.id);
    if (record === undefined) throw new Error("the session is not in its store");
    ofStore.clear();
    ofLog.clear();

    await clock.advance(24 * 3_600_000);

    expect(await store.floors(record.uid)).toStrictEqual([]);
    ofStore.delete("floors");
    ofStore.delete("now"); // reads no store
    expect([...ofStore.keys()]).toStrictEqual(["heads"]);
    expect(Object.fromEntries(ofLog)).toStrictEqual({});
    console.log(`a day of waiting: ${ofStore.get("heads")} reads of the head, 0 appends`);
    const [asked] = session.approvals;
    const callId = session.transcript
      .at(-1)
      ?.parts.flatMap((part) =>
        part.kind === "tool_call" && part.tool === "pick" ? [part.callId] : [],
      )[0];
    if (asked === undefined || callId === undefined) throw new Error("nothing is waited for");
    session.allow(asked.id);
    session.answer(callId, { colour: "red" });
    await clock.advance(10_000);
    expect(await run.text()).toBe("all done");
  });

  it("outlive their process: killed, answered while no process drives, and gone on with by another", async () => {
    const paidBefore = paid.times;
    await using database = await sharedPostgres();
    const redis = await sharedRedis();
    const urls = { url: database.url, redisUrl: redis.url, prefix: redis.prefix };
    await using here = openPlaces(urls);
    await here.store.migrate();
    const path = new URL("child.ts", import.meta.url).href;
    const child = startChild(path, "s", urls.url, urls.redisUrl, urls.prefix);
    await child.hasPrinted(1);
    child.kill("SIGKILL");
    await child.gone;
    const record = await here.store.find(sessionId("s"));
    if (record === undefined) throw new Error("the session is not in its store");
    const { uid } = record;
    expect(await here.store.floors(uid)).toStrictEqual([]);
    const before = await here.store.read(uid);

    const inbox = createInbox({ ...here, uid });
    const question = before.find((fact) => fact.type === "approval_requested");
    const intent = before.find((fact) => fact.type === "tool_execution_started");
    if (question === undefined || intent === undefined) throw new Error("nothing is waited for");
    expect(
      await inbox.answer({ callId: intent.callId }, { output: { colour: "red" } }),
    ).toMatchObject({
      accepted: true,
    });
    expect(await inbox.allow(question.approvalId)).toMatchObject({ accepted: true });
    await inbox.announced();
    await using session = await waitingAgent("second").open({ id: "s", ...here });

    await vi.waitFor(() => expect(session.status).toBe("idle"), { timeout: 20_000 });
    const facts = await here.store.read(uid);
    const intents = facts.filter((fact) => fact.type === "tool_execution_started");
    expect(intents.map(({ tool }) => tool).toSorted()).toStrictEqual(["pay", "pick"]);
    expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
    expect(paid.times - paidBefore).toBe(1);
  });
});
