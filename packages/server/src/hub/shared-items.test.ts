import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { packEpoch } from "@millrace/core/ports";
import type { DriverRequest } from "@millrace/core/ports";
import { callId, itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { RecordingSink } from "../testing/recording-sink.ts";
import { createHub } from "./hub.ts";

const ids = { runId: runId("run_1"), turnId: turnId("turn_1") };

test("a step leaves out a call's input only if every viewer holds the call", async () => {
  const store = memorySessionStore();
  const log = memoryEventLog();
  const name = sessionId("calls");
  const { uid } = await store.create({ sessionId: name });
  await store.claim(uid, { from: 0 });
  const append = async (...bodies: DriverRequest["bodies"]): Promise<void> => {
    const head = await store.head(uid);
    const answer = await store.append(uid, { incarnation: 1, head, bodies });
    if (answer.outcome !== "appended") throw new Error(answer.outcome);
    for (const fact of answer.facts) await log.announce(uid, fact);
  };
  const commit = async (generation: number, text: string, calls: number): Promise<void> => {
    const lane = { lane: 0, epoch: packEpoch({ incarnation: 1, generation, attempt: 1 }) };
    const id = itemId(`item_${generation}`);
    const parts = [
      { kind: "text", id: partId("t"), text } as const,
      ...Array.from({ length: calls }, (_, at) => ({
        kind: "tool_call" as const,
        id: partId(`c${at}`),
        callId: callId(`call_${at}`),
        tool: "look",
        raw: JSON.stringify({ at, asked: "a question" }),
        input: { at, asked: "a question" },
      })),
    ];
    await store.open(uid, { ...lane, itemId: id });
    const item = { id, author: "model", parts, stop: "end" } as const;
    const fact = { type: "item_committed", item, ...lane, ...ids } as const;
    const answer = await store.commit(uid, { fact });
    if (answer.outcome !== "committed") throw new Error(answer.outcome);
    for (const stored of answer.facts) await log.announce(uid, stored);
  };
  const begin = (at: number, generation: number): Promise<void> =>
    append({
      type: "tool_execution_started",
      ...ids,
      itemId: itemId(`result_${at}`),
      callId: callId(`call_${at}`),
      tool: "look",
      input: { at, asked: "a question" },
      lane: at + 1,
      epoch: packEpoch({ incarnation: 1, generation, attempt: 1 }),
    });
  await append({ type: "run_started", runId: ids.runId }, { type: "turn_started", ...ids });
  using hub = createHub({ store, log, clock: systemClock });
  const first = new RecordingSink();
  void hub.deliver({ uid, sessionId: name }, first);
  const settle = (): Promise<void> => new Promise((wake) => setTimeout(wake, 150));
  await settle();
  await commit(1, "calls", 3);
  await begin(0, 2);
  await settle();
  const lastText = (): string =>
    Buffer.from(first.frames.at(-1) ?? [])
      .toString()
      .split("data: ")
      .at(-1) ?? "";
  expect(lastText()).toContain("tool_execution_started");
  expect(lastText()).not.toContain("a question");

  // It gets the newest item alone: the one with the calls does not fit.
  await commit(3, "x".repeat(20_000), 0);
  const late = new RecordingSink();
  void hub.deliver({ uid, sessionId: name, budget: 16_384 }, late);
  await settle();
  expect(late.state?.earlier?.count).toBe(1);
  await begin(1, 4);
  await settle();

  expect(lastText()).toContain("a question");
  expect(late.state?.executions.map(({ input }) => input)).toEqual(
    first.state?.executions.map(({ input }) => input),
  );
  expect(late.state?.executions).toHaveLength(2);
});
