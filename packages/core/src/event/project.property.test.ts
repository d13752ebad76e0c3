import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Item } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import { approvalId, callId, itemId, partId } from "../ids.ts";
import { batch, deltas, empty, facts, item, run, text, turn } from "../testing/session.ts";
import { toolCall, toolResult } from "../testing/session.ts";
import { decodeMessage, encodeMessage } from "../wire/message-codec.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { apply } from "./apply.ts";
import type { FactBody } from "./event.ts";
import { project } from "./project.ts";
import { reduceFact } from "./reduce.ts";
import { restore, snapshot } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import type { SessionState } from "./state.ts";
import type { View } from "./view.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(3_000, 150_000, 150);

/** A step makes a state from one of those that were made before, and projects some of them. */
const step = fc.record({
  /** Mostly the newest state; an older one begins a branch. */
  back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(12)),
  change: fc.nat(15),
  at: fc.nat(3),
  other: fc.nat(3),
  view: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const inTurn = { runId: run, turnId: turn };
/** Few ids, so that calls come again in later items and are answered twice. */
function parts({ at, other }: Step): readonly Part[] {
  const shapes: readonly (readonly Part[])[] = [
    [text(`words ${other}`)],
    [toolCall(`c${at}`), text("between", "p9"), toolCall(`c${other}`, {}, "again")],
    [toolResult(`c${other}`)],
    [toolResult(`c${at}`), text("beside", "p8"), toolCall(`c${other}`)],
  ];
  return shapes[(at + other) % shapes.length] ?? [];
}

function itemOf(id: number, taken: Step): Item {
  return item(`i${id}`, "model", parts(taken));
}

function factOf(taken: Step, count: number): FactBody | undefined {
  const { at, other, change } = taken;
  const call = { callId: callId(`c${at}`) };
  const asked = { ...call, approvalId: approvalId(`a${at}`) };
  const used = { ...inTurn, ...call, tool: "search" };
  switch (change) {
    case 0:
      return { type: "run_started", runId: run };
    case 1:
      return { type: "run_finished", runId: run, outcome: "completed", closes: 0 };
    case 2:
      return { type: "approval_requested", ...used, ...asked, input: {}, hash: "h" };
    case 3:
      return { type: "approval_resolved", ...asked, decision: "allow" };
    case 4:
    case 5:
      return {
        type: "tool_execution_started",
        ...used,
        input: {},
        itemId: itemId("out"),
        lane: 1,
        epoch: 1,
      };
    case 6:
      return { type: "tool_execution_finished", ...used, status: "ok" };
    case 7:
      return { type: "item_replaced", item: itemOf(other, taken) };
    case 8: {
      const summary = { itemId: itemId("i0"), first: itemId(`i${at}`), last: itemId(`i${other}`) };
      return { type: "compaction_finished", runId: run, summary };
    }
    case 9:
    case 10:
    case 11:
      return undefined; // a batch instead
    default:
      return { type: "item_committed", item: itemOf(count, taken) };
  }
}

/** A lane that begins, of a reply or of the tool that carries out a call. */
function withLane(state: SessionState, { at, other, change }: Step, count: number): SessionState {
  const author = change === 9 ? "model" : "tool";
  const opened = change === 9 ? {} : { callId: callId(`c${at}`) };
  const lane = { lane: change === 9 ? 0 : 1 + at, attempt: 1 + count, item: `live${other}` };
  const id = partId("p1");
  const kind = { kind: "tool_result", callId: callId(`c${at}`), tool: "search" } as const;
  const begin = change === 9 ? ({ kind: "text" } as const) : kind;
  return apply(
    state,
    batch(
      [
        { type: "attempt_started", author, ...opened },
        ...deltas(
          { op: "begin_part", partId: id, ...begin },
          { op: "append_text", partId: id, chunk: `so far ${count}` },
        ),
      ],
      lane,
    ),
  ).state;
}

function take(state: SessionState, taken: Step, count: number): SessionState {
  const body = factOf(taken, count);
  if (body === undefined) return withLane(state, taken, count);
  return facts(state.head + 1, body).reduce(
    (current, fact) => ({ ...reduceFact(current, fact), head: fact.n }),
    state,
  );
}

/** The same state of other objects, of which no view was made before. */
function copyOf(state: SessionState): SessionState {
  const read = decodeMessage(encodeMessage(snapshot(state)));
  if (!read.ok) throw new Error(read.fault.message);
  return restore(read.value as Snapshot);
}

test("a view is that of a projection from scratch, whichever states were projected before", () => {
  let views = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
      const states = [empty];
      const unread: { readonly view: View; readonly state: SessionState }[] = [];
      for (const [count, taken] of steps.entries()) {
        const from = states[Math.max(0, states.length - 1 - taken.back)] as SessionState;
        const state = take(from, taken, count);
        states.push(state);
        // A view may be read long after other states were projected.
        if (taken.view) unread.push({ view: project(state), state });
        if (count % 3 === 2) views += compareAll(unread.splice(0));
      }
      views += compareAll([...unread, ...states.map((state) => ({ view: project(state), state }))]);
    }),
    { numRuns: times },
  );
  console.log(`count: cached projections, ${times} histories, ${views} views, 0 failures`);
});

function compareAll(
  made: readonly { readonly view: View; readonly state: SessionState }[],
): number {
  for (const { view, state } of made) expect(view).toEqual(project(copyOf(state)));
  return made.length;
}

test("the items are the same array until one of them changes", () => {
  const [first, second] = facts(
    1,
    { type: "item_committed", item: item("i0", "model", [toolCall("c1")]) },
    { type: "compaction_started", runId: run },
  );
  const before = apply(empty, first as NonNullable<typeof first>).state;
  const after = apply(before, second as NonNullable<typeof second>).state;

  expect(project(after).items).toBe(project(before).items);
});
