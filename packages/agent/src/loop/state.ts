import type {
  ApprovalId,
  CallId,
  InputId,
  ItemId,
  ResultStatus,
  RunId,
  StopReason,
  TurnId,
} from "@millrace/core";
import type { RetryHint } from "@millrace/core/model";
import type { Epoch } from "@millrace/core/ports";
import type { Limits } from "../definition/limits.ts";
import type { LoopSettings } from "../definition/loop-settings.ts";

/**
 * The whole input of `decide`, as plain data without content: the standing by the facts, the agent's
 * settings, the work of this driver, and the time. `decide` reads nothing else.
 */
export interface LoopState {
  readonly standing: Standing;
  readonly settings: LoopSettings;
  readonly doing: Doing;
  readonly now: number;
}

/** The state of a session by its facts alone. Every driver computes the same from the same facts. */
export interface Standing {
  readonly incarnation: number;
  readonly queue: readonly Queued[];
  /** The names of the tools whose results the session holds, each once. */
  readonly ran: readonly string[];
  /** The tokens of the session's latest reply and its request: the next run begins with at least as many. */
  readonly contextTokens: number;
  readonly run: RunStanding | undefined;
}

/** An input that has not become an item yet. */
export interface Queued {
  readonly inputId: InputId;
  readonly kind: "prompt" | "steer" | "follow_up" | "answer";
  /** The sender's limits for the run that this input begins. */
  readonly limits: Limits | undefined;
  /** True if it was queued when a run was stopped: it waits for the next prompt and begins no run. */
  readonly held: boolean;
}

/** The usage of attempts. `cost` is the sum of known costs, and undefined if none is known. */
export interface Spent {
  readonly tokens: number;
  readonly cost: number | undefined;
}

/** The state of a run: its turns, its usage, and whether a stop was requested. */
export interface RunStanding {
  readonly runId: RunId;
  /** By the clock of the process that started it. */
  readonly startedAt: number;
  readonly aborting: boolean;
  /** The sender's limits. `limitsOf` combines them with the agent's. */
  readonly limits: Limits | undefined;
  readonly turns: number;
  readonly used: Spent;
  /** The latest calls of the run, oldest first, as many as the detection of repeats needs. */
  readonly calls: readonly CallPrint[];
  /** The tokens of the latest reply and its request. The next request has at least as many. */
  readonly contextTokens: number;
  readonly compacting: boolean;
  /** How many compactions this run has started. */
  readonly compactions: number;
  /** How many attempts at the current summary have failed. */
  readonly summaryAttempts: number;
  /**
   * The compaction since the last reply: none, one that shortened the context, or one that did not help.
   * `in_vain`: there was nothing to summarise, or the vendor refused the shorter context too.
   */
  readonly compacted: "no" | "worked" | "in_vain";
  /** Requests whose driver ended before it could store anything of them. Charged by an estimate. */
  readonly lost: number;
  /** How many drivers of the run have ended in a row, without a trace of it since. */
  readonly lostInRow: number;
  /** True if its driver has released it: then the next one takes over, and nothing was lost. */
  readonly released: boolean;
  /** How often the model was asked to correct its answer. */
  readonly corrections: number;
  readonly turn: TurnStanding | undefined;
}

/** A call without its content. Equal for calls of one tool with equal input. */
export interface CallPrint {
  readonly tool: string;
  readonly print: string;
}

/** The state of a turn: its attempts, its reply, and its stop reason. */
export interface TurnStanding {
  readonly turnId: TurnId;
  /** Failed attempts at the reply, counted by their stored usage. */
  readonly attempts: number;
  /** True if its vendor refused what a model had thought before, which is no longer sent. */
  readonly droppedReasoning: boolean;
  readonly reply: ReplyStanding | undefined;
  /** True if an item of this turn is aborted, so that the transcript shows the stop. */
  readonly showsStop: boolean;
  /** Set once the turn is finished. */
  readonly stop: StopReason | undefined;
}

/** The model's item of a turn, with the state of each call. */
export interface ReplyStanding {
  readonly itemId: ItemId;
  readonly stop: StopReason;
  /** The code of its failure. */
  readonly cause: string | undefined;
  readonly calls: readonly CallStanding[];
}

/** The state of a call: its approval, its start, its result. */
export interface CallStanding {
  readonly callId: CallId;
  readonly tool: string;
  /** The reserved id of its result. */
  readonly itemId: ItemId;
  /** The lane of its result. */
  readonly lane: number;
  /** How many approvals were requested for it. */
  readonly asked: number;
  /** The latest approval request. */
  readonly approval: ApprovalStanding | undefined;
  /** The epoch of the latest intent to run it. */
  readonly started: Epoch | undefined;
  /** True if a client carries it out, so that the run waits for a person's side. */
  readonly client: boolean;
  readonly settled: boolean;
}

/** An approval request, and its answer if there is one. */
export interface ApprovalStanding {
  readonly approvalId: ApprovalId;
  readonly hash: string;
  readonly askedAt: number;
  readonly answer: { readonly decision: "allow" | "deny"; readonly at: number } | undefined;
}

/**
 * The work of this driver and its results that are not stored. Lost with the process; the next driver
 * starts with `doingNothing`.
 */
export interface Doing {
  readonly reply: boolean;
  readonly compaction: boolean;
  readonly assessing: boolean;
  /** Running calls, by the reserved ids of their results, because call ids may repeat in later turns. */
  readonly calls: ReadonlySet<ItemId>;
  /** True if the signals of all work in progress are aborted. */
  readonly interrupted: boolean;
  /** Results of assessments, by the same ids. */
  readonly verdicts: ReadonlyMap<ItemId, CallVerdict>;
  /** Statuses of checked answers of clients, by the same ids. */
  readonly answers: ReadonlyMap<ItemId, ResultStatus>;
  /** Whether the answer matches the requested schema. Always valid without a schema. */
  readonly output: "unchecked" | "valid" | "invalid";
  /** The latest failed attempt at the reply or the summary, until the next attempt starts. */
  readonly failed: FailedAttempt | undefined;
  /** The limit that the parent's run has reached, for a sub-agent. */
  readonly allowance: string | undefined;
}

/** The result of assessing a call: the hash of the exact input, and whether it may run. */
export type CallVerdict =
  | { readonly decision: "allow" | "ask"; readonly hash: string }
  | { readonly decision: "refuse"; readonly status: ResultStatus };

/** A failed attempt, as far as the decision about a retry depends on it. */
export interface FailedAttempt {
  readonly cause: RetryHint;
  /** True if the vendor refused what a model had thought before: another request may do without. */
  readonly refusesReasoning?: boolean | undefined;
  /** In [0, 1). Drawn once when it failed, so that `decide` stays pure. */
  readonly jitter: number;
  /** Its usage while that is not stored, else `nothingSpent`. */
  readonly used: Spent;
  /** When the retry is due, once it is scheduled. */
  readonly retryAt: number | undefined;
}

export const nothingSpent: Spent = { tokens: 0, cost: undefined };

/** The sum of both. An unknown cost counts as 0 if the other is known, so that a cost limit still works. */
export function addSpent(left: Spent, right: Spent): Spent {
  const known = left.cost !== undefined || right.cost !== undefined;
  return {
    tokens: left.tokens + right.tokens,
    cost: known ? (left.cost ?? 0) + (right.cost ?? 0) : undefined,
  };
}

/** The standing of a session before its first fact. */
export const emptyStanding: Standing = {
  incarnation: 0,
  queue: [],
  ran: [],
  contextTokens: 0,
  run: undefined,
};

/** The state of a driver that has just started. */
export const doingNothing: Doing = {
  reply: false,
  compaction: false,
  assessing: false,
  calls: new Set(),
  interrupted: false,
  verdicts: new Map(),
  answers: new Map(),
  output: "valid",
  failed: undefined,
  allowance: undefined,
};

export function emptyRun(
  run: Pick<RunStanding, "runId" | "startedAt" | "limits">,
  contextTokens = 0,
): RunStanding {
  return {
    ...run,
    aborting: false,
    turns: 0,
    used: nothingSpent,
    calls: [],
    contextTokens,
    compacting: false,
    compactions: 0,
    summaryAttempts: 0,
    compacted: "no",
    lost: 0,
    lostInRow: 0,
    released: false,
    corrections: 0,
    turn: undefined,
  };
}
