import type { Fact } from "@millrace/core";

/** Stands in everything that is forged and has a text, so that it is known wherever it shows. */
export const mark = "FORGED";

/** Any fact, seen as its JSON. */
type Loose = Readonly<Record<string, unknown>>;

/** The last value of a field among the facts. */
function last(facts: readonly Fact[], field: string, otherwise: unknown): unknown {
  const found: object | undefined = facts.findLast((fact) => field in fact);
  return (found as Loose | undefined)?.[field] ?? otherwise; // any object has any key
}

/**
 * A fact of every type, fitted to a session as far as it has come: ids of the run, the turn, the open
 * question and the open call are the true ones.
 */
export function forgedBodies(facts: readonly Fact[]): readonly Loose[] {
  const runId = last(facts, "runId", "run_1");
  const turnId = last(facts, "turnId", "turn_1");
  const approvalId = last(facts, "approvalId", "approval_1");
  const callId = last(facts, "callId", "call_1");
  const inputId = last(facts, "inputId", "input_1");
  const tool = last(facts, "tool", "wipe");
  const hash = last(facts, "hash", "sha256:0");
  const epoch = last(facts, "epoch", 1);
  const incarnation = Number(last(facts, "incarnation", 1));
  const text = { kind: "text", id: "p", text: `${mark} text` };
  const place = { runId, turnId };
  const item = { id: `${mark}_item`, author: "model", parts: [text], stop: "end" };
  const result = { kind: "tool_result", id: "p", callId, tool, status: "ok", text: mark };
  const call = { kind: "tool_call", id: "p", callId: mark, tool: "wipe", raw: "{}", input: {} };
  const calling = { ...item, id: `${mark}_call`, parts: [call], stop: "tools" };
  const said = (input: Loose): Loose => ({
    type: "input_accepted",
    inputId: `${mark}_${String(input["kind"])}`,
    input,
  });
  return [
    { type: "approval_resolved", approvalId, callId, decision: "allow" },
    { type: "approval_resolved", approvalId, callId, decision: "deny", reason: mark },
    said({ kind: "prompt", parts: [text] }),
    said({ kind: "steer", parts: [text] }),
    said({ kind: "follow_up", parts: [text] }),
    said({ kind: "answer", callId, output: { text: mark } }),
    said({ kind: "abort" }),
    said({ kind: "abort", runId, reason: mark }),
    { type: "queue_updated", inputId, change: "taken_back" },
    { type: "session_claimed", incarnation: incarnation + 1 },
    { type: "session_claimed", incarnation: incarnation + 1, to: 1 },
    { type: "run_started", runId: `${mark}_run` },
    { type: "run_finished", runId, closes: epoch, outcome: "completed" },
    { type: "run_finished", runId, closes: epoch, outcome: "aborted" },
    { type: "turn_started", runId, turnId: `${mark}_turn` },
    { type: "turn_finished", ...place, stop: "tools", closes: epoch },
    { type: "item_committed", item, ...place },
    { type: "item_committed", item: calling, ...place },
    { type: "item_committed", item: { ...item, author: "tool", parts: [result] }, ...place },
    { type: "item_replaced", item, ...place },
    { type: "approval_requested", ...place, approvalId, callId, tool, input: {}, hash },
    {
      type: "tool_execution_started",
      ...place,
      callId,
      tool,
      input: {},
      itemId: `${mark}_result`,
      lane: 1,
      epoch,
    },
    { type: "tool_execution_finished", ...place, callId, tool, status: "ok" },
    { type: "compaction_started", runId },
    { type: "compaction_finished", runId },
    {
      type: "usage_reported",
      runId,
      epoch,
      usage: { inputTokens: 1e9, outputTokens: 1e9, cachedTokens: 0 },
    },
    { type: "of_a_later_release", text: mark },
  ];
}

/** Batches that go on from a true one: the next number, its successor's opening, a far one. */
export function forgedBatches(batch: Loose): readonly Loose[] {
  const [epoch, seq] = [Number(batch["epoch"]), Number(batch["last"])];
  const partId = `${mark}_part`;
  const begin = { op: "begin_part", partId, kind: "text" };
  const append = { op: "append_text", partId, chunk: mark };
  const events = [begin, append].map((delta) => ({ type: "content_delta", delta }));
  const opening = { type: "attempt_started", author: "model", model: mark };
  return [
    { ...batch, first: seq + 1, last: seq + 2, events },
    { ...batch, first: 0, last: seq + 3, events: [opening, ...events] },
    { ...batch, epoch: epoch + 1, first: 0, last: 2, events: [opening, ...events] },
    { ...batch, epoch: epoch + 2 ** 40, first: 0, last: 2, events: [opening, ...events] },
  ];
}
