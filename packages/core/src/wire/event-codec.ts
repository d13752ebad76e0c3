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
} from "../event/event.ts";
import type { CallId, RunId } from "../ids.ts";
import {
  actorText,
  approvalId,
  callId,
  inputId,
  itemId,
  runId,
  sessionId,
  turnId,
} from "../ids.ts";
import type { Json, JsonObject } from "../json.ts";
import { author, cause, item, part, stopReason, usage } from "./content-codec.ts";
import { delta } from "./delta-codec.ts";
import {
  amount,
  count,
  exactlyOne,
  id,
  incarnation,
  json,
  jsonObject,
  list,
  malformed,
  object,
  oneOf,
  optional,
  tagged,
  text,
} from "./shape.ts";
import type { Fields, ObjectShape, Shape } from "./shape.ts";

const runs = id(runId);
const turns = id(turnId);
const calls = id(callId);
const items = id(itemId);
const inputs = id(inputId);
const approvals = id(approvalId);
const sessions = id(sessionId);

export const version: Shape<typeof schemaVersion> = {
  encode: (value) => value,
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

const anyAnswer = object<{
  readonly kind: "answer";
  readonly callId: CallId;
  readonly output?: Json;
  readonly error?: string;
}>({ kind: oneOf("answer"), callId: calls, output: optional(json), error: optional(text) });

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
    encode: (value) => value,
    decode: (_, path) => malformed(path, "a kind of input of this version"),
  },
);

const actor = object<Actor>({ user: id(actorText), via: optional(id(actorText)) });

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

const anyRunFinished = object<AnyRunFinished>({
  type: oneOf("run_finished"),
  ...envelopeFields,
  runId: runs,
  closes: count,
  outcome: oneOf<RunOutcome["outcome"]>("completed", "aborted", "limited", "failed"),
  limit: optional(text),
  cause: optional(cause),
});

export const runFinished: Shape<FactOf<"run_finished">> = {
  encode: anyRunFinished.encode,
  decode: (value, path) => {
    const decoded = anyRunFinished.decode(value, path);
    const why =
      decoded.outcome === "failed"
        ? decoded.cause
        : decoded.outcome === "limited"
          ? decoded.limit
          : "";
    if (why === undefined)
      return malformed(path, `a run that ended as ${decoded.outcome} to say why`);
    return decoded as FactOf<"run_finished">;
  },
};

export const toolExecutionStarted: Shape<FactOf<"tool_execution_started">> = factShape(
  "tool_execution_started",
  {
    ...inTurn,
    callId: calls,
    tool: text,
    input: jsonObject,
    itemId: items,
    lane: count,
    epoch: count,
    childSessionId: optional(sessions),
  },
);

export const approvalRequested: Shape<FactOf<"approval_requested">> = factShape(
  "approval_requested",
  { ...inTurn, approvalId: approvals, callId: calls, tool: text, input: jsonObject, hash: text },
);

export const approvalResolved: Shape<FactOf<"approval_resolved">> = factShape("approval_resolved", {
  approvalId: approvals,
  callId: calls,
  decision: oneOf<"allow" | "deny">("allow", "deny"),
  reason: optional(text),
  actor: optional(actor),
});

/** An event of a newer version goes through this one unchanged. Its number counts all the same. */
const opaqueFact: Shape<FactOf<"opaque">> = {
  encode: (fact) => ({ ...fact.original, ...envelope.encode(fact) }),
  decode: (value, path) => {
    const original = recordWithType(value, path);
    return { ...envelope.decode(value, path), type: "opaque", original };
  },
};

export const fact: ObjectShape<Fact> = tagged<Fact, "type">(
  "type",
  {
    session_claimed: factShape("session_claimed", {
      incarnation,
      to: optional(count),
      resumes: optional(runs),
    }),
    session_released: factShape("session_released", {
      runId: runs,
      incarnation,
      reason: oneOf<"shutdown">("shutdown"),
    }),
    input_accepted: factShape("input_accepted", {
      inputId: inputs,
      input,
      actor: optional(actor),
    }),
    queue_updated: factShape("queue_updated", {
      inputId: inputs,
      change: oneOf<"taken_back">("taken_back"),
      actor: optional(actor),
    }),
    run_started: factShape("run_started", { runId: runs }),
    run_finished: runFinished,
    turn_started: factShape("turn_started", { ...inTurn }),
    turn_finished: factShape("turn_finished", { ...inTurn, stop: stopReason, closes: count }),
    item_committed: bothOrNeither(factShape("item_committed", stored)),
    item_replaced: bothOrNeither(factShape("item_replaced", stored)),
    approval_requested: approvalRequested,
    approval_resolved: approvalResolved,
    tool_execution_started: toolExecutionStarted,
    tool_execution_finished: factShape("tool_execution_finished", {
      ...inTurn,
      callId: calls,
      tool: text,
      status: oneOf<FactOf<"tool_execution_finished">["status"]>(
        "ok",
        "failed",
        "denied",
        "aborted",
        "unknown",
      ),
    }),
    compaction_started: factShape("compaction_started", { runId: runs }),
    compaction_finished: factShape("compaction_finished", {
      runId: runs,
      summary: optional(object({ itemId: items, first: items, last: items })),
    }),
    usage_reported: factShape("usage_reported", {
      runId: runs,
      turnId: optional(turns),
      epoch: count,
      usage,
    }),
  },
  opaqueFact,
);

const liveEvent: Shape<LiveEvent> = tagged<LiveEvent, "type">(
  "type",
  {
    attempt_started: object<LiveOf<"attempt_started">>({
      type: oneOf("attempt_started"),
      author,
      callId: optional(calls),
      tool: optional(text),
      model: optional(text),
    }),
    content_delta: object<LiveOf<"content_delta">>({ type: oneOf("content_delta"), delta }),
    tool_execution_update: object<LiveOf<"tool_execution_update">>({
      type: oneOf("tool_execution_update"),
      callId: calls,
      message: text,
    }),
    retry_scheduled: object<LiveOf<"retry_scheduled">>({
      type: oneOf("retry_scheduled"),
      cause,
      delayMs: amount,
    }),
    stalled: object<LiveOf<"stalled">>({ type: oneOf("stalled"), silentMs: amount }),
    lane_idled: object<LiveOf<"lane_idled">>({ type: oneOf("lane_idled") }),
  },
  {
    encode: (event: LiveOf<"opaque">) => event.original,
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

export const batch: ObjectShape<Batch> = {
  encode: anyBatch.encode,
  decode: (value, path) => {
    const decoded = anyBatch.decode(value, path);
    const opened = decoded.first > 0 || decoded.events[0]?.type === "attempt_started";
    if (decoded.last < decoded.first || decoded.events.length === 0 || !opened) {
      return malformed(path, "events, first <= last, and from 0 an attempt_started");
    }
    return decoded;
  },
};

/** The shape of one type of fact. The envelope is the same for all. */
function factShape<Type extends FactBody["type"]>(
  type: Type,
  fields: Fields<Omit<BodyOf<Type>, "type">>,
): ObjectShape<FactOf<Type>> {
  const named = { type: oneOf(type), ...envelopeFields, ...(fields as object) };
  const shape = object<FactEnvelope>(named);
  return shape as unknown as ObjectShape<FactOf<Type>>;
}

/** An item was written in a lane under an epoch, or in no lane at all. */
function bothOrNeither<T extends { readonly lane?: number; readonly epoch?: number }>(
  shape: Shape<T>,
): Shape<T> {
  return {
    encode: shape.encode,
    decode: (value, path) => {
      const decoded = shape.decode(value, path);
      const both = (decoded.lane === undefined) === (decoded.epoch === undefined);
      return both ? decoded : malformed(path, "lane and epoch together");
    },
  };
}

function recordWithType(value: unknown, path: string): JsonObject {
  const record = jsonObject.decode(value, path);
  return typeof record["type"] === "string" ? record : malformed(path, "an event with a type");
}
