import type { Cause } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import type { Batch } from "../event/batch.ts";
import { schemaVersion } from "../event/event.ts";
import type {
  Actor,
  BodyOf,
  Fact,
  FactBody,
  FactEnvelope,
  FactOf,
  Input,
  LiveEvent,
  RunOutcome,
  TraceContext,
} from "../event/event.ts";
import type { ReasoningDropped } from "../event/request-facts.ts";
import type { Compaction } from "../event/state.ts";
import type {
  ApprovalId,
  CallId,
  InputId,
  ItemId,
  PartId,
  RunId,
  SessionId,
  TurnId,
} from "../ids.ts";
import type { Json, JsonObject } from "../json.ts";
import { author, cause, item, part, resultStatus, stopReason, usage } from "./content-codec.ts";
import { delta } from "./delta-codec.ts";
import {
  amount,
  checked,
  count,
  exactlyOne,
  id,
  incarnation,
  json,
  jsonObject,
  list,
  malformed,
  named,
  object,
  oneOf,
  optional,
  tagged,
  text,
} from "./shape.ts";
import type { Fields, Shape } from "./shape.ts";

export const runs: Shape<RunId> = id<RunId>();
export const turns: Shape<TurnId> = id<TurnId>();
const calls = id<CallId>();
export const items: Shape<ItemId> = id<ItemId>();
export const inputs: Shape<InputId> = id<InputId>();
const parts = id<PartId>();
const approvals = id<ApprovalId>();
export const sessions: Shape<SessionId> = id<SessionId>();

export const version: Shape<typeof schemaVersion> = {
  decode: (value, path) =>
    value === schemaVersion
      ? schemaVersion
      : malformed(
          path,
          `version ${schemaVersion}`,
          typeof value === "number" ? "unsupported_version" : "malformed",
        ),
};

const envelopeFields = { v: version, n: count, sessionId: sessions, time: count };
const envelope = object<FactEnvelope>(envelopeFields);

const content = object<{
  readonly kind: "prompt" | "steer" | "follow_up";
  readonly parts: readonly Part[];
  readonly options?: JsonObject;
}>({
  kind: oneOf("prompt", "steer", "follow_up"),
  parts: list(part),
  options: optional(jsonObject),
});

interface AnyAnswer {
  readonly kind: "answer";
  readonly callId: CallId;
  readonly output?: Json;
  readonly error?: string;
}

const anyAnswer = object<AnyAnswer>({
  kind: oneOf("answer"),
  callId: calls,
  output: optional(json),
  error: optional(text),
});

export const input: Shape<Input> = tagged<Input, "kind">(
  "kind",
  {
    prompt: content,
    steer: content,
    follow_up: content,
    answer: exactlyOne<Extract<Input, { readonly kind: "answer" }>>(anyAnswer, "output", "error"),
    abort: object<Extract<Input, { readonly kind: "abort" }>>({
      kind: oneOf("abort"),
      runId: optional(runs),
      reason: optional(text),
    }),
  },
  {
    decode: (_, path) => malformed(path, "a known kind"),
  },
);

export const trace: Shape<TraceContext> = object<TraceContext>({
  traceparent: text,
  tracestate: optional(text),
});
const actor = object<Actor>({ user: id(), via: optional(id()) });

export const summary: Shape<Compaction> = object<Compaction>({
  itemId: items,
  first: items,
  last: items,
});

const inTurn = { runId: runs, turnId: turns };
const stored = {
  item,
  lane: optional(count),
  epoch: optional(count),
  runId: optional(runs),
  turnId: optional(turns),
  inputId: optional(inputs),
};

/** A run's end before it is known that its outcome has its cause or limit. */
interface AnyRunFinished extends FactEnvelope {
  readonly type: "run_finished";
  readonly runId: RunId;
  readonly closes: number;
  readonly outcome: RunOutcome["outcome"];
  readonly limit?: string;
  readonly cause?: Cause;
}

const anyRunFinished = eventShape<AnyRunFinished>("run_finished", {
  ...envelopeFields,
  runId: runs,
  closes: count,
  outcome: oneOf<RunOutcome["outcome"]>("completed", "aborted", "limited", "failed"),
  limit: optional(text),
  cause: optional(cause),
});

export const runFinished: Shape<FactOf<"run_finished">> = checked<
  AnyRunFinished,
  FactOf<"run_finished">
>(anyRunFinished, ({ outcome, cause, limit }) => {
  const why = outcome === "failed" ? cause : outcome === "limited" ? limit : "";
  return why === undefined && `a reason of ${outcome}`;
});

/** The facts whose fields need no rule beyond themselves. */
const simple = factShapes({
  session_claimed: { incarnation, to: optional(count), resumes: optional(runs) },
  session_released: { runId: runs, incarnation, reason: oneOf<"shutdown">("shutdown") },
  input_accepted: { inputId: inputs, input, actor: optional(actor), trace: optional(trace) },
  queue_updated: {
    inputId: inputs,
    change: oneOf<"taken_back">("taken_back"),
    actor: optional(actor),
  },
  run_started: { runId: runs, trace: optional(trace) },
  turn_started: inTurn,
  turn_finished: { ...inTurn, stop: stopReason, closes: count },
  approval_requested: {
    ...inTurn,
    approvalId: approvals,
    callId: calls,
    tool: text,
    input: jsonObject,
    parsed: optional(json),
    hash: text,
    seconds: optional(amount),
  },
  approval_resolved: {
    approvalId: approvals,
    callId: calls,
    decision: oneOf<"allow" | "deny">("allow", "deny"),
    reason: optional(text),
    hash: optional(text),
    actor: optional(actor),
  },
  tool_execution_started: {
    ...inTurn,
    callId: calls,
    tool: text,
    input: jsonObject,
    itemId: items,
    lane: count,
    epoch: count,
    hash: optional(text),
    childSessionId: optional(sessions),
    client: optional(oneOf<true>(true)),
  },
  tool_execution_finished: { ...inTurn, callId: calls, tool: text, status: resultStatus },
  compaction_started: { runId: runs },
  compaction_finished: { runId: runs, summary: optional(summary) },
  usage_reported: {
    runId: runs,
    turnId: optional(turns),
    epoch: count,
    usage,
    lost: optional(oneOf<true>(true)),
  },
  guidance_set: { ...inTurn, guidance: optional(jsonObject) },
  reasoning_dropped: {
    runId: runs,
    scope: optional(text),
    through: items,
    reason: oneOf<ReasoningDropped["reason"]>("refused", "summary", "prefix_changed"),
  },
  part_left_out: { runId: runs, itemId: items, partId: parts, text },
  prefix_broken: { runId: runs, reason: text },
  notice: { runId: runs, code: text, message: text },
});

export const toolExecutionStarted: Shape<FactOf<"tool_execution_started">> =
  simple.tool_execution_started;
export const approvalRequested: Shape<FactOf<"approval_requested">> = simple.approval_requested;
export const approvalResolved: Shape<FactOf<"approval_resolved">> = simple.approval_resolved;

/** An event of a newer version goes through this one unchanged. Its number counts all the same. */
const opaqueFact: Shape<FactOf<"opaque">> = {
  form: { by: "original", own: envelope },
  decode: (value, path) => {
    const original = recordWithType(value, path);
    return { ...envelope.decode(value, path), type: "opaque", original };
  },
};

export const fact: Shape<Fact> = tagged<Fact, "type">(
  "type",
  {
    ...simple,
    run_finished: runFinished,
    item_committed: storedShape("item_committed"),
    item_replaced: storedShape("item_replaced"),
  },
  opaqueFact,
);

export const liveEvent: Shape<LiveEvent> = tagged<LiveEvent, "type">(
  "type",
  {
    attempt_started: eventShape<LiveOf<"attempt_started">>("attempt_started", {
      author,
      callId: optional(calls),
      tool: optional(text),
      model: optional(text),
    }),
    content_delta: eventShape<LiveOf<"content_delta">>("content_delta", { delta }),
    tool_execution_update: eventShape<LiveOf<"tool_execution_update">>("tool_execution_update", {
      callId: calls,
      message: text,
    }),
    retry_scheduled: eventShape<LiveOf<"retry_scheduled">>("retry_scheduled", {
      cause,
      delayMs: amount,
    }),
    stalled: eventShape<LiveOf<"stalled">>("stalled", { silentMs: amount }),
    lane_idled: eventShape<LiveOf<"lane_idled">>("lane_idled", {}),
  },
  {
    form: { by: "original" },
    decode: (value, path) => ({ type: "opaque", original: recordWithType(value, path) }),
  },
);
type LiveOf<Type extends LiveEvent["type"]> = Extract<LiveEvent, { readonly type: Type }>;

const anyBatch = object<Batch>({
  v: version,
  sessionId: sessions,
  runId: runs,
  turnId: turns,
  itemId: items,
  lane: count,
  epoch: count,
  first: count,
  last: count,
  head: count,
  time: count,
  events: list(liveEvent),
});

export const batch: Shape<Batch> = named(
  "batch",
  checked<Batch, Batch>(anyBatch, ({ first, last, events }) => {
    const opened = first > 0 || events[0]?.type === "attempt_started";
    const sound = first <= last && events.length > 0 && opened;
    return !sound && "first <= last, and at 0 an opening";
  }),
);

function eventShape<T extends { readonly type: string }>(
  type: T["type"],
  fields: Fields<Omit<T, "type">>,
): Shape<T> {
  // All fields of the type: its name, and the others.
  return object<T>({ type: oneOf(type), ...fields } as unknown as Fields<T>);
}

/** The fields of each type of fact, without those of the envelope, which is the same for all. */
type FactFields = {
  readonly [
    Type in Exclude<FactBody["type"], "opaque" | "run_finished" | StoredFact["type"]>
  ]: Fields<Omit<BodyOf<Type>, "type">>;
};

function factShapes(table: FactFields): {
  readonly [Type in keyof FactFields]: Shape<FactOf<Type>>;
} {
  const shapes = Object.entries(table).map(([type, fields]) => [
    type,
    eventShape(type, { ...envelopeFields, ...fields }),
  ]);
  return Object.fromEntries(shapes) as ReturnType<typeof factShapes>; // an entry for each of the table
}

/** An item was written in a lane under an epoch, or in no lane at all. */
function storedShape(type: StoredFact["type"]): Shape<StoredFact> {
  return checked<StoredFact, StoredFact>(
    eventShape<StoredFact>(type, { ...envelopeFields, ...stored }),
    ({ lane, epoch }) =>
      (lane === undefined) !== (epoch === undefined) && "lane and epoch together",
  );
}
type StoredFact = FactOf<"item_committed" | "item_replaced">;

function recordWithType(value: unknown, path: string): JsonObject {
  const record = jsonObject.decode(value, path);
  return typeof record["type"] === "string" ? record : malformed(path, "a type");
}
