import type { Author, Cause, Item, StopReason } from "../content/item.ts";
import type { Part, ResultStatus } from "../content/part.ts";
import type { Usage } from "../content/usage.ts";
import type { Delta } from "../delta/delta.ts";
import type { ApprovalId, CallId, InputId, ItemId, RunId, SessionId, TurnId } from "../ids.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Epoch } from "./epoch.ts";
import type {
  GuidanceSet,
  Notice,
  PartLeftOut,
  PrefixBroken,
  ReasoningDropped,
} from "./request-facts.ts";

/** The version of everything in this file. Raised only by changes that an old reader would misread. */
export const schemaVersion = 1;

/**
 * Something that has happened for good. Facts are numbered 1, 2, 3 … for each session, without
 * holes, in the transaction that stores them; that number is their only order, clocks are none.
 */
export type Fact = FactBody & FactEnvelope;

/** The facts of one type. */
export type FactOf<Type extends FactBody["type"]> = Extract<Fact, { readonly type: Type }>;

/** The body of one type of fact, as its writer makes it. The store adds number and time. */
export type BodyOf<Type extends FactBody["type"]> = Extract<FactBody, { readonly type: Type }>;

export interface FactEnvelope {
  readonly v: typeof schemaVersion;
  readonly n: number;
  readonly sessionId: SessionId;
  /** Milliseconds since 1970 by the writer's clock. For people to read, never to order by. */
  readonly time: number;
}

/** What a fact says, without its number, its time and its session. */
export type FactBody =
  | SessionClaimed
  | SessionReleased
  | InputAccepted
  | QueueUpdated
  | RunStarted
  | RunFinished
  | TurnStarted
  | TurnFinished
  | ItemCommitted
  | ItemReplaced
  | ApprovalRequested
  | ApprovalResolved
  | ToolExecutionStarted
  | ToolExecutionFinished
  | CompactionStarted
  | CompactionFinished
  | UsageReported
  | GuidanceSet
  | ReasoningDropped
  | PartLeftOut
  | PrefixBroken
  | Notice
  | OpaqueEvent;

/** A driver took the session. Closes every lane of all earlier incarnations. */
export interface SessionClaimed {
  readonly type: "session_claimed";
  readonly incarnation: number;
  /** After an operator's reset: facts above this one are undone, except those of people. */
  readonly to?: number;
  /** The run that is on, and that the driver goes on with. */
  readonly resumes?: RunId;
}

/**
 * The session's driver shut down in the middle of a run, which the next driver goes on with. Closes
 * nothing: the next claim does. A driver that dies stores none, and a viewer that leaves is no fact.
 */
export interface SessionReleased {
  readonly type: "session_released";
  readonly incarnation: number;
  readonly runId: RunId;
  readonly reason: "shutdown";
}

/** The person behind a fact, as the process that stored it knew them. */
export interface Actor {
  /** The user's id in the application: 1 to 256 UTF-16 units, as every id. */
  readonly user: string;
  /** The way by which it came, such as `http`, of the same length. */
  readonly via?: string;
}

/** A person, or a program for one, sent something to the session. */
export interface InputAccepted {
  readonly type: "input_accepted";
  readonly inputId: InputId;
  readonly input: Input;
  readonly actor?: Actor;
  /** The span of the request by which it came. No part of the content: a repeat may have another. */
  readonly trace?: TraceContext;
}

/** A span by the W3C's Trace Context, as the two HTTP headers carry it. */
export interface TraceContext {
  /** `00-<trace id>-<span id>-<flags>`, in lower-case hex. */
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** What is sent to a session. */
export type Input =
  /** `steer` is taken up at the next consistent boundary, `follow_up` after the natural end. */
  | {
      readonly kind: "prompt" | "steer" | "follow_up";
      readonly parts: readonly Part[];
      /** What its sender asks of the run it begins, such as limits. Read by the driver. */
      readonly options?: JsonObject;
    }
  /** The answer to a call that a client carries out: what came of it, or why it failed. */
  | { readonly kind: "answer"; readonly callId: CallId; readonly output: Json }
  | { readonly kind: "answer"; readonly callId: CallId; readonly error: string }
  /** Left out, the run: whichever is on. A stop that names another run changes nothing. */
  | { readonly kind: "abort"; readonly runId?: RunId; readonly reason?: string };

/** An input left the queue without becoming an item. */
export interface QueueUpdated {
  readonly type: "queue_updated";
  readonly inputId: InputId;
  readonly change: "taken_back";
  readonly actor?: Actor;
}

export interface RunStarted {
  readonly type: "run_started";
  readonly runId: RunId;
  /** That of the input which began it. */
  readonly trace?: TraceContext;
}

/** How a run ended. */
export type RunOutcome =
  | { readonly outcome: "completed" | "aborted" }
  | { readonly outcome: "limited"; readonly limit: string }
  | { readonly outcome: "failed"; readonly cause: Cause };

/** Nothing of the run follows it. Closes every lane up to and including the epoch it names. */
export type RunFinished = {
  readonly type: "run_finished";
  readonly runId: RunId;
  readonly closes: Epoch;
} & RunOutcome;

export interface TurnStarted {
  readonly type: "turn_started";
  readonly runId: RunId;
  readonly turnId: TurnId;
}

/** The reply and the answers to its calls are stored. `stop` decides what the loop does next. */
export interface TurnFinished {
  readonly type: "turn_finished";
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly stop: StopReason;
  readonly closes: Epoch;
}

/** An item is finished and stored. Closes its lane up to and including its epoch. */
export interface ItemCommitted extends ItemStored {
  readonly type: "item_committed";
}

/** An item ended with other content than was streamed, or a committed one was exchanged. */
export interface ItemReplaced extends ItemStored {
  readonly type: "item_replaced";
}

interface ItemStored {
  readonly item: Item;
  /** The lane and epoch that wrote it: both, or neither for an item that no lane wrote, as a person's. */
  readonly lane?: number;
  readonly epoch?: Epoch;
  readonly runId?: RunId;
  readonly turnId?: TurnId;
  /** The input that became this item. */
  readonly inputId?: InputId;
}

/** The run waits for a person. What is shown is bound by the hash of exactly what would run. */
export interface ApprovalRequested {
  readonly type: "approval_requested";
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly approvalId: ApprovalId;
  readonly callId: CallId;
  readonly tool: string;
  /** What the model sent. */
  readonly input: JsonObject;
  /** What the tool gets instead, as JSON. Left out where its schema does not change the input. */
  readonly parsed?: Json;
  readonly hash: string;
  /** So long it waits for an answer, counted from its time. Then it counts as denied. Left out: without limit. */
  readonly seconds?: number;
}

export interface ApprovalResolved {
  readonly type: "approval_resolved";
  readonly approvalId: ApprovalId;
  readonly callId: CallId;
  readonly decision: "allow" | "deny";
  readonly reason?: string;
  /** That of the question. An answer with another hash allows nothing. Facts of older writers have none. */
  readonly hash?: string;
  readonly actor?: Actor;
}

/** The intent, stored before the effect. Reserves the id of the result's item. */
export interface ToolExecutionStarted {
  readonly type: "tool_execution_started";
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly tool: string;
  readonly input: JsonObject;
  readonly itemId: ItemId;
  readonly lane: number;
  readonly epoch: Epoch;
  /** Of exactly what runs: that of the question, if there was one. Facts of older writers have none. */
  readonly hash?: string;
  /** The session of a sub-agent, which can be watched too. */
  readonly childSessionId?: SessionId;
  /** A client carries it out: no lane opens, and it waits for an answer. Facts of older writers have none. */
  readonly client?: true;
}

/** The settlement, stored together with the result's item. */
export interface ToolExecutionFinished {
  readonly type: "tool_execution_finished";
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly callId: CallId;
  readonly tool: string;
  readonly status: ResultStatus;
}

export interface CompactionStarted {
  readonly type: "compaction_started";
  readonly runId: RunId;
}

/** The summary stands for the items from `first` to `last`. They are not deleted. */
export interface CompactionFinished {
  readonly type: "compaction_finished";
  readonly runId: RunId;
  /** Left out when the compaction failed and the old context is used on. */
  readonly summary?: { readonly itemId: ItemId; readonly first: ItemId; readonly last: ItemId };
}

/** What one attempt used, also one that failed or was superseded. */
export interface UsageReported {
  readonly type: "usage_reported";
  readonly runId: RunId;
  readonly turnId?: TurnId;
  readonly epoch: Epoch;
  readonly usage: Usage;
  /**
   * The attempt was lost with its process, which an engine repeats without a new claim. Its usage is not
   * known and stands as 0. Facts of older writers have none.
   */
  readonly lost?: true;
}

/** An event of a type that a newer version wrote. Carried unchanged, changes nothing here. */
export interface OpaqueEvent {
  readonly type: "opaque";
  readonly original: JsonObject;
}

/**
 * Something on its way: it may be superseded, and its log may vanish at any time. Written by its
 * lane's one writer alone.
 */
export type LiveEvent =
  | AttemptStarted
  | ContentDelta
  | ToolExecutionUpdate
  | RetryScheduled
  | Stalled
  | LaneIdled
  | OpaqueEvent;

/** The opening of a lane, always `seq` 0. A new attempt replaces the draft of the one before it. */
export interface AttemptStarted {
  readonly type: "attempt_started";
  readonly author: Author;
  /** The call that this lane answers. */
  readonly callId?: CallId;
  readonly tool?: string;
  readonly model?: string;
}

export interface ContentDelta {
  readonly type: "content_delta";
  readonly delta: Delta;
}

/** Progress that a tool reports beside its output. The latest replaces the one before. */
export interface ToolExecutionUpdate {
  readonly type: "tool_execution_update";
  readonly callId: CallId;
  readonly message: string;
}

/** This attempt has failed, and another follows. */
export interface RetryScheduled {
  readonly type: "retry_scheduled";
  readonly cause: Cause;
  readonly delayMs: number;
}

/** Bytes may still come, but nothing has moved for this long. */
export interface Stalled {
  readonly type: "stalled";
  readonly silentMs: number;
}

/** The writer of an open lane has no content: carries the lane's position, so that a lost batch is noticed. */
export interface LaneIdled {
  readonly type: "lane_idled";
}
