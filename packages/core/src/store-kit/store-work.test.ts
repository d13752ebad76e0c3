import fc from "fast-check";
import { expect, it } from "vitest";
import { reduceFact } from "../event/reduce.ts";
import type { FactBody } from "../event/event.ts";
import { inputId, runId } from "../ids.ts";
import { fact } from "../testing/event-arbitraries.ts";
import { empty, facts, item, text } from "../testing/session.ts";
import { hasWork, noWork, workAfter } from "./store-work.ts";

const input = (id: string, kind: "prompt" | "steer" | "follow_up"): FactBody => ({
  type: "input_accepted",
  inputId: inputId(id),
  input: { kind, parts: [] },
});
const started: FactBody = { type: "run_started", runId: runId("r") };
const finished = (outcome: "completed" | "aborted"): FactBody => ({
  type: "run_finished",
  runId: runId("r"),
  outcome,
  closes: 1,
});

it("the run is the one of the readers' state, and the queue has no input that theirs has not", () => {
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 40 }), (history) => {
      const work = workAfter(noWork, history);
      const state = history.reduce(reduceFact, empty);
      const queued = new Set(state.queue.map((one) => one.inputId));

      expect(work.run).toBe(state.run?.runId);
      expect(work.queue.every((one) => queued.has(one.inputId))).toBe(true);
    }),
  );
});

it("a session has work from an accepted prompt until its run has finished", () => {
  const history = facts(
    1,
    input("a", "prompt"),
    started,
    { type: "item_committed", item: item("i", "user", [text("hi")]), inputId: inputId("a") },
    finished("completed"),
  );

  const after = history.map((_, at) => hasWork(workAfter(noWork, history.slice(0, at + 1))));

  expect(after).toEqual([true, true, true, false]);
});

it("after a stop only prompts begin a run by themselves", () => {
  const history = facts(
    1,
    started,
    input("a", "steer"),
    input("b", "follow_up"),
    input("c", "prompt"),
    finished("aborted"),
  );

  expect(workAfter(noWork, history).queue).toEqual([{ inputId: "c", kind: "prompt" }]);
});

it("the driver is the one of the last claim until it releases the session", () => {
  const [claimed, released] = facts(
    1,
    { type: "session_claimed", incarnation: 1 },
    { type: "session_released", incarnation: 1, runId: runId("r"), reason: "shutdown" },
  );
  if (claimed === undefined || released === undefined) throw new TypeError("two facts");

  const driven = workAfter(noWork, [claimed], "worker-1");

  expect(driven.driver).toBe("worker-1");
  expect(workAfter(driven, [released]).driver).toBeUndefined();
  expect(workAfter(driven, [claimed]).driver).toBeUndefined();
});
