import fc from "fast-check";
import type { Cause, Item } from "../content/item.ts";
import type { Batch } from "../event/batch.ts";
import { schemaVersion } from "../event/event.ts";
import type {
  Actor,
  TraceContext,
  Fact,
  FactBody,
  FactOf,
  Input,
  LiveEvent,
  RunOutcome,
} from "../event/event.ts";
import type { Snapshot } from "../event/snapshot.ts";
import type { OpenRun, OpenTurn, Approval, ClosedLane } from "../event/state.ts";
import type * as ids from "../ids.ts";
import type { Json } from "../json.ts";
import {
  amount,
  author,
  both,
  callId,
  cause,
  count,
  delta,
  approvalId,
  inputId,
  item,
  itemId,
  partId,
  json,
  jsonObject,
  part,
  record,
  runId,
  sessionId,
  sessionUid,
  status,
  stopReason,
  text,
  turnId,
  usage,
} from "./arbitraries.ts";

// Facts, batches and snapshots in wire-legal form, as the content in `arbitraries.ts` is.

const input: fc.Arbitrary<Input> = fc.oneof(
  record<Extract<Input, { kind: "prompt" | "steer" | "follow_up" }>>(
    {
      kind: fc.constantFrom("prompt", "steer", "follow_up"),
      parts: fc.array(part, { maxLength: 2 }),
      options: jsonObject,
    },
    ["options"],
  ),
  record<Extract<Input, { output: Json }>>({ kind: fc.constant("answer"), callId, output: json }),
  record<Extract<Input, { error: string }>>({ kind: fc.constant("answer"), callId, error: text }),
  record<Extract<Input, { kind: "abort" }>>({ kind: fc.constant("abort"), runId, reason: text }, [
    "runId",
    "reason",
  ]),
);

const trace = record<TraceContext>({ traceparent: text, tracestate: text }, ["tracestate"]);
const actor = record<Actor>(
  {
    user: fc.string({ minLength: 1, maxLength: 40, unit: "binary" }),
    via: fc.string({ minLength: 1, maxLength: 16 }),
  },
  ["via"],
);

/** All optional fields of a stored item but `lane` and `epoch`, which stand together. */
const storedItem = both(
  record<{
    item: Item;
    runId?: ids.RunId;
    turnId?: ids.TurnId;
    inputId?: ids.InputId;
  }>({ item, runId, turnId, inputId }, ["runId", "turnId", "inputId"]),
  fc.oneof(fc.constant({}), record<{ lane: number; epoch: number }>({ lane: count, epoch: count })),
);

const envelope = record({
  v: fc.constant(schemaVersion),
  n: count,
  sessionId,
  time: count,
});
const inTurn = { runId, turnId };
/** An incarnation has 23 bits of an epoch. */
const incarnation = fc.oneof(fc.nat(5), fc.nat(2 ** 23 - 1));

type Body<Type extends FactBody["type"]> = Omit<Extract<FactBody, { readonly type: Type }>, "type">;

function factOf<Type extends FactBody["type"]>(
  type: Type,
  body: fc.Arbitrary<Body<Type>>,
): fc.Arbitrary<FactOf<Type>> {
  return fc
    .tuple(envelope, body)
    .map(([head, rest]) => ({ type, ...head, ...rest }) as unknown as FactOf<Type>);
}

const outcome: fc.Arbitrary<RunOutcome> = fc.oneof(
  record<RunOutcome>({ outcome: fc.constantFrom("completed", "aborted") }),
  record<RunOutcome & { limit: string }>({ outcome: fc.constant("limited"), limit: text }),
  record<RunOutcome & { cause: Cause }>({ outcome: fc.constant("failed"), cause }),
);
const runFinished = factOf("run_finished", both(record({ runId, closes: count }), outcome));
const approvalRequested = factOf(
  "approval_requested",
  record<Body<"approval_requested">>(
    {
      ...inTurn,
      approvalId,
      callId,
      tool: text,
      input: jsonObject,
      parsed: json,
      hash: text,
      seconds: amount,
    },
    ["parsed", "seconds"],
  ),
);
const approvalResolved = factOf(
  "approval_resolved",
  record<Body<"approval_resolved">>(
    {
      approvalId,
      callId,
      decision: fc.constantFrom("allow", "deny"),
      reason: text,
      hash: text,
      actor,
    },
    ["reason", "hash", "actor"],
  ),
);
const toolExecutionStarted = factOf(
  "tool_execution_started",
  record<Body<"tool_execution_started">>(
    {
      ...inTurn,
      callId,
      tool: text,
      input: jsonObject,
      itemId,
      lane: count,
      epoch: count,
      hash: text,
      childSessionId: sessionId,
      client: fc.constant(true as const),
    },
    ["hash", "childSessionId", "client"],
  ),
);
/** A fact of a newer version. Its fields may be named like those of batches and snapshots. */
const opaqueFact: fc.Arbitrary<FactOf<"opaque">> = fc
  .tuple(
    envelope,
    fc.constantFrom("hologram_shown", "opaque", "Run_Started", ""),
    fc.oneof(jsonObject, record({ first: json, last: json, events: json, closedLanes: json })),
  )
  .map(([head, type, rest]) => ({ ...head, type: "opaque", original: { ...rest, ...head, type } }));

/** One arbitrary for each type of fact. */
export const factsByType: { readonly [Type in FactBody["type"]]: fc.Arbitrary<FactOf<Type>> } = {
  session_claimed: factOf(
    "session_claimed",
    record<Body<"session_claimed">>({ incarnation, to: count, resumes: runId }, ["to", "resumes"]),
  ),
  session_released: factOf(
    "session_released",
    record({ incarnation, runId, reason: fc.constant("shutdown" as const) }),
  ),
  input_accepted: factOf(
    "input_accepted",
    record({ inputId, input, actor, trace }, ["actor", "trace"]),
  ),
  queue_updated: factOf(
    "queue_updated",
    record({ inputId, change: fc.constant("taken_back" as const), actor }, ["actor"]),
  ),
  run_started: factOf("run_started", record({ runId, trace }, ["trace"])),
  run_finished: runFinished,
  turn_started: factOf("turn_started", record(inTurn)),
  turn_finished: factOf("turn_finished", record({ ...inTurn, stop: stopReason, closes: count })),
  item_committed: factOf("item_committed", storedItem),
  item_replaced: factOf("item_replaced", storedItem),
  approval_requested: approvalRequested,
  approval_resolved: approvalResolved,
  tool_execution_started: toolExecutionStarted,
  tool_execution_finished: factOf(
    "tool_execution_finished",
    record({ ...inTurn, callId, tool: text, status }),
  ),
  compaction_started: factOf("compaction_started", record({ runId })),
  compaction_finished: factOf(
    "compaction_finished",
    record<Body<"compaction_finished">>(
      { runId, summary: record({ itemId, first: itemId, last: itemId }) },
      ["summary"],
    ),
  ),
  usage_reported: factOf(
    "usage_reported",
    record<Body<"usage_reported">>(
      { runId, turnId, epoch: count, usage, lost: fc.constant(true as const) },
      ["turnId", "lost"],
    ),
  ),
  guidance_set: factOf(
    "guidance_set",
    record<Body<"guidance_set">>({ ...inTurn, guidance: jsonObject }, ["guidance"]),
  ),
  reasoning_dropped: factOf(
    "reasoning_dropped",
    record<Body<"reasoning_dropped">>(
      {
        runId,
        scope: text,
        through: itemId,
        reason: fc.constantFrom("refused", "summary", "prefix_changed"),
      },
      ["scope"],
    ),
  ),
  part_left_out: factOf("part_left_out", record({ runId, itemId, partId, text })),
  prefix_broken: factOf("prefix_broken", record({ runId, reason: text })),
  notice: factOf("notice", record({ runId, code: text, message: text })),
  opaque: opaqueFact,
};
export const fact: fc.Arbitrary<Fact> = fc.oneof(...Object.values(factsByType));

const attemptStarted: fc.Arbitrary<LiveEvent> = record<
  Extract<LiveEvent, { readonly type: "attempt_started" }>
>({ type: fc.constant("attempt_started"), author, callId, tool: text, model: text }, [
  "callId",
  "tool",
  "model",
]);
const liveEvent: fc.Arbitrary<LiveEvent> = fc.oneof(
  attemptStarted,
  { weight: 6, arbitrary: record({ type: fc.constant("content_delta" as const), delta }) },
  record({ type: fc.constant("tool_execution_update" as const), callId, message: text }),
  record({ type: fc.constant("retry_scheduled" as const), cause, delayMs: amount }),
  record({ type: fc.constant("stalled" as const), silentMs: amount }),
  record({ type: fc.constant("lane_idled" as const) }),
  fc.tuple(fc.constantFrom("hologram_moved", "opaque"), jsonObject).map(([type, rest]) => ({
    type: "opaque" as const,
    original: { ...rest, type },
  })),
);

/** The numbers of a batch, from its events: one each, but a batch from 0 may stand for more. */
function batchFrom(first: fc.Arbitrary<number>): fc.Arbitrary<Batch> {
  const head = record({
    v: fc.constant(schemaVersion),
    sessionId,
    ...inTurn,
    itemId,
    lane: count,
    epoch: count,
    head: count,
    time: count,
  });
  return fc
    .tuple(head, first, fc.nat(9), attemptStarted, fc.array(liveEvent, { maxLength: 5 }), liveEvent)
    .map(([fields, from, more, opened, rest, last]) => {
      const events = from === 0 ? [opened, ...rest] : [...rest, last];
      const extra = from === 0 ? more : 0;
      return { ...fields, first: from, last: from + events.length - 1 + extra, events };
    });
}
export const batch: fc.Arbitrary<Batch> = batchFrom(
  fc.oneof(fc.constant(0), fc.nat(20), fc.nat(2 ** 40)),
);

const closedLanes: fc.Arbitrary<readonly ClosedLane[]> = fc.array(
  record({ lane: count, epoch: count }),
  { maxLength: 3 },
);
const activeRun: fc.Arbitrary<OpenRun> = record<OpenRun>(
  {
    runId,
    turn: record<OpenTurn>({ turnId, reply: itemId, stop: stopReason }, ["reply", "stop"]),
    aborting: fc.boolean(),
    released: incarnation,
  },
  ["turn", "released"],
);
const approval: fc.Arbitrary<Approval> = record<Approval>(
  { asked: approvalRequested, answer: approvalResolved },
  ["answer"],
);
const queued = record({ inputId, input: input.filter((said) => said.kind !== "abort"), trace }, [
  "trace",
]);

/** A snapshot that a wire can carry. Its fields need not agree with each other. */
export const snapshot: fc.Arbitrary<Snapshot> = record<Snapshot>(
  {
    v: fc.constant(schemaVersion),
    sessionId,
    uid: sessionUid,
    head: count,
    incarnation,
    closed: count,
    closedLanes,
    lanes: fc.array(batchFrom(fc.constant(0)), { maxLength: 2 }),
    items: fc.array(item, { maxLength: 3 }),
    earlier: record({ count, before: count }),
    queue: fc.array(queued, { maxLength: 2 }),
    run: activeRun,
    ended: runFinished,
    executions: fc.array(toolExecutionStarted, { maxLength: 2 }),
    approvals: fc.array(approval, { maxLength: 2 }),
    compacting: fc.boolean(),
    compactions: fc.array(record({ itemId, first: itemId, last: itemId }), { maxLength: 2 }),
    usage,
  },
  ["earlier", "run", "ended"],
);
