import { expect, it } from "vitest";
import { commitOf } from "../delta/commit.ts";
import type { Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import { foldAll } from "../delta/fold.ts";
import { apply } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import type { LiveEvent } from "../event/event.ts";
import { emptyState } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import { callId, itemId, partId, runId, sessionId, sessionUid, turnId } from "../ids.ts";
import { encodeStep } from "./step-encoder.ts";
import { readStep } from "./step-reader.ts";

const id = partId("p");

function batch(first: number, events: readonly LiveEvent[]): Batch {
  return {
    v: 1,
    sessionId: sessionId("s"),
    runId: runId("run_1"),
    turnId: turnId("turn_1_1"),
    itemId: itemId("item_1"),
    lane: 0,
    epoch: 1,
    first,
    last: first + events.length - 1,
    head: 0,
    time: 0,
    events,
  };
}

const content = (delta: Delta): LiveEvent => ({ type: "content_delta", delta });

/** A reader at a call whose arguments have come, and the commit that its writer makes of them. */
function called(raw: string): { readonly state: SessionState; readonly commit: Delta } {
  const call = { callId: callId("call_1"), tool: "pay" };
  const deltas: readonly Delta[] = [
    { op: "begin_part", partId: id, kind: "tool_call", ...call },
    { op: "append_text", partId: id, chunk: raw },
  ];
  const opening: LiveEvent = { type: "attempt_started", author: "model" };
  const empty = emptyState(sessionUid("u"), sessionId("s"));
  const applied = apply(empty, batch(0, [opening, ...deltas.map(content)]));
  const commit = commitOf(foldAll(emptyDraft(), deltas), id);
  if (commit === undefined) throw new Error("the part is open");
  return { state: applied.state, commit };
}

it.each([
  ["an object", '{"sum":5}', ["type"]],
  ["white space alone", " \n", ["type"]],
  ["another value than an object", "[5]", ["type"]],
  ["half an object", '{"sum":', ["type", "fault"]],
  ["a text that holds an object", '"{}"', ["type", "fault"]],
  ["an object with a key twice", '{"sum":5,"sum":500}', ["type", "part"]],
  ["an object with a forbidden key", '{"__proto__":{"sum":5}}', ["type", "part"]],
  ["an object with an inexact number", '{"sum":12345678901234567890}', ["type", "part"]],
])("a call whose arguments are %s is committed as its writer has it", (_, raw, fields) => {
  const { state, commit } = called(raw);
  const message = batch(3, [content(commit)]);

  const line = encodeStep(state, message) ?? "";

  expect(Object.keys(JSON.parse(line) as object)).toEqual(fields);
  expect(readStep(state, line)).toEqual({ ok: true, value: message });
});

it("a fault of arguments that its reader has as an object is a gap: text was lost", () => {
  const { commit } = called('{"sum":');
  const line = encodeStep(called('{"sum":').state, batch(3, [content(commit)])) ?? "";

  expect(readStep(called("{}").state, line)).toMatchObject({ ok: false, fault: { code: "gap" } });
});

it("a reader takes a commit of the text it was shown, and no delta that does not fit to its part", () => {
  const { state } = called("{}");
  const other: Delta = { op: "commit_part", partId: id, part: { kind: "text", id, text: "{}" } };
  const changed: Delta = { op: "commit_part", partId: id, part: { kind: "text", id, text: "{" } };
  expect(apply(state, batch(3, [content(changed)])).verdict).toBe("gap");
  const after = apply(state, batch(3, [content(other)]));

  expect(after.verdict).toBe("applied");
  expect(after.state.lanes[0]?.draft.parts).toEqual([{ state: "committed", id, part: other.part }]);
  const append: Delta = { op: "append_text", partId: id, chunk: "!" };
  const unknown: Delta = { op: "append_text", partId: partId("q"), chunk: "!" };
  const half: Delta = { op: "append_text", partId: id, chunk: "\ud83d" };
  expect(apply(after.state, batch(4, [content(append)])).verdict).toBe("gap");
  expect(apply(state, batch(3, [content(unknown)])).verdict).toBe("gap");
  expect(apply(state, batch(3, [content(half)])).verdict).toBe("gap");
});
