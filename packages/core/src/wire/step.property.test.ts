import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { apply } from "../event/apply.ts";
import { emptyState } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import { choices } from "../testing/delta-programs.ts";
import { expectInStep, Noticed } from "../testing/disturbed.ts";
import { fact } from "../testing/event-arbitraries.ts";
import { History, session, uid } from "../testing/histories.ts";
import { inEvents, stepsOf } from "../testing/in-step.ts";
import { receive } from "./receive.ts";
import { encodeStep } from "./step-encoder.ts";
import { readStep } from "./step-reader.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(2_000, 100_000, 200);
const empty = emptyState(uid, session);

function stateOf(numbers: readonly number[]): SessionState {
  return new History(numbers).messages.reduce(
    (state, message) => apply(state, message).state,
    empty,
  );
}

/** Whether the step at this place goes into one event with the next one: any pattern of them. */
function withNext(number: number): (at: number) => boolean {
  return (at) => ((number >>> (at % 29)) & 1) === 1;
}

it("a reader of steps has the state of a reader of whole messages, after every message", () => {
  let lines = 0;
  fc.assert(
    fc.property(choices(60), fc.nat(), (numbers, number) => {
      const stream = stepsOf(empty, new History(numbers).messages);
      expectInStep(stream);
      expectInStep(inEvents(stream, withNext(number)));
      lines += stream.lines.length;
    }),
    { numRuns: times },
  );
  console.log(`count: steps equal whole messages, ${times} histories, ${lines} steps, 0 failures`);
});

it("lines that are lost, doubled or out of order are noticed, and no wrong state comes before", () => {
  const noticed = new Noticed();
  fc.assert(
    fc.property(choices(40), fc.nat(), (numbers, number) => {
      const stream = stepsOf(empty, new History(numbers).messages);
      noticed.disturb(stream, number % stream.lines.length, number);
      const events = inEvents(stream, withNext(number));
      noticed.disturb(events, number % events.lines.length, number);
    }),
    { numRuns: times / 2 },
  );
  console.log(`count: disturbed steps, ${times / 2} histories, ${String(noticed)}`);
  expect(noticed.isComplete).toBe(true);
});

it("every fact can be a step in every state, and is read as it was", () => {
  fc.assert(
    fc.property(choices(20), fact, (numbers, given) => {
      const state = stateOf(numbers);
      const next = { ...given, n: state.head + 1, sessionId: state.sessionId };
      if (next.type === "opaque") Object.assign(next, { original: opaque(next) });
      if (next.type === "session_claimed" && next.to !== undefined) return;
      const line = encodeStep(state, next) ?? "";
      const read = readStep(state, line);
      if (!read.ok || !isDeepStrictEqual(read.value, next))
        throw new Error(`${line} was read as ${JSON.stringify(read)}`);
    }),
    { numRuns: times * 2 },
  );
});

function opaque(next: { readonly n: number; readonly sessionId: string; readonly time: number }) {
  const { n, sessionId, time } = next;
  return { type: "hologram", x: [1], v: 1, n, sessionId, time };
}

const otherValue = fc.oneof(fc.json(), fc.nat(9).map(String), fc.constant('"p0"'));

it("no line breaks a reader, and one that is not read changes nothing", () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(choices(30), fc.nat(), otherValue, (numbers, number, value) => {
      const { lines, states } = stepsOf(empty, new History(numbers).messages);
      const at = number % lines.length;
      const { data, id } = lines[at] as (typeof lines)[number];
      const steps = data.split("\n");
      const record = JSON.parse(steps[number % steps.length] as string) as Record<string, unknown>;
      const keys = Object.keys(record);
      record[keys[number % keys.length] as string] = JSON.parse(value);
      steps[number % steps.length] = JSON.stringify(record);
      const received = receive(states[at], steps.join("\n"), id);
      seen.set(received.outcome, (seen.get(received.outcome) ?? 0) + 1);
    }),
    { numRuns: times },
  );
  console.log(`count: damaged steps, ${JSON.stringify(Object.fromEntries(seen))}`);
  expect(seen.get("refused")).toBeGreaterThan(0);
  expect(seen.get("gap")).toBeGreaterThan(0);
});
