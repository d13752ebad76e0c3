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
import type { Epoch, RetryHint } from "@millrace/core/ports";
import type { Limits } from "../definition/limits.ts";
import type { LoopSettings } from "../definition/loop-settings.ts";

/**
 * All that a decision rests on, as plain data without any content: what the facts say, how the agent
 * is set up, what this driver has under way, and the time. Nothing else may be asked.
 */
export interface LoopState {
  readonly standing: Standing;
  readonly settings: LoopSettings;
  readonly doing: Doing;
  readonly now: number;
}

/** Where a session stands by its facts alone. A driver that reads them again comes to the same. */
export interface Standing {
  readonly incarnation: number;
  readonly queue: readonly Queued[];
  readonly run: RunStanding | undefined;
}

/** An input that has not become an item yet. */
export interface Queued {
  readonly inputId: InputId;
  readonly kind: "prompt" | "steer" | "follow_up" | "answer";
  /** The limits that its sender asks for, for the run it begins. */
  readonly limits: Limits | undefined;
  /** Left over when a run was stopped: it waits for the next prompt instead of beginning a run. */
  readonly held: boolean;
}

/** What attempts have used. A cost that is not known must not hide the others from a limit. */
export interface Spent {
  readonly tokens: number;
  readonly cost: number | undefined;
}

/** Where a run stands: its turns, what it has spent, and whether a stop was asked for. */
export interface RunStanding {
  readonly runId: RunId;
  /** By the clock of the process that started it. */
  readonly startedAt: number;
  readonly aborting: boolean;
  /** What its sender asked for. */
  readonly limits: Limits | undefined;
  readonly turns: number;
  readonly used: Spent;
  /** The latest calls of the run, oldest first, as far as a repetition could reach back. */
  readonly calls: readonly CallPrint[];
  /** The tokens of the latest reply and its request: what the next request is sure to have. */
  readonly contextTokens: number;
  readonly compacting: boolean;
  /** Compactions that this run has tried, and attempts at the summary of the latest that are over. */
  readonly compactions: number;
  readonly summaryAttempts: number;
  /**
   * Whether one was tried since the last reply, and whether it helps. It does not if there was
   * nothing to summarise, or if what it left was refused as too long again.
   */
  readonly compacted: "no" | "worked" | "in_vain";
  /** How often the model was asked again because its answer had not the requested shape. */
  readonly corrections: number;
  readonly turn: TurnStanding | undefined;
}

/** A call without its content: equal for calls of one tool with equal input. */
export interface CallPrint {
  readonly tool: string;
  readonly print: string;
}

/** Where a turn stands: its attempts, its reply, and how it ended. */
export interface TurnStanding {
  readonly turnId: TurnId;
  /** Attempts at the reply that are over, by their reports. */
  readonly attempts: number;
  readonly reply: ReplyStanding | undefined;
  /** An item of this turn ended as aborted, so the transcript shows where the run was stopped. */
  readonly showsStop: boolean;
  /** Set once the turn is finished. */
  readonly stop: StopReason | undefined;
}

/** The model's item of a turn, with where each of its calls stands. */
export interface ReplyStanding {
  readonly itemId: ItemId;
  readonly stop: StopReason;
  /** The code of what cut it short. */
  readonly cause: string | undefined;
  readonly calls: readonly CallStanding[];
}

/** Where a call stands: asked about, started, answered. */
export interface CallStanding {
  readonly callId: CallId;
  readonly tool: string;
  /** The reserved id of its answer, and the lane that writes it. */
  readonly itemId: ItemId;
  readonly lane: number;
  /** Questions asked about it so far; the latest one. */
  readonly asked: number;
  readonly approval: ApprovalStanding | undefined;
  /** The epoch of the latest intent to run it. */
  readonly started: Epoch | undefined;
  readonly settled: boolean;
}

/** A question to a person, and its answer if there is one. */
export interface ApprovalStanding {
  readonly approvalId: ApprovalId;
  readonly hash: string;
  readonly askedAt: number;
  readonly answer: { readonly decision: "allow" | "deny"; readonly at: number } | undefined;
}

/** What this driver has under way, and what it has found out. Gone with the process. */
export interface Doing {
  readonly reply: boolean;
  readonly compaction: boolean;
  readonly assessing: boolean;
  /** Calls that run, by the reserved ids of their answers: call ids come again in later turns. */
  readonly calls: ReadonlySet<ItemId>;
  /** All that is under way has had its signal aborted. */
  readonly interrupted: boolean;
  /** By the same ids. */
  readonly verdicts: ReadonlyMap<ItemId, CallVerdict>;
  /** Answers of clients that were checked: what each call comes to. By the same ids. */
  readonly answers: ReadonlyMap<ItemId, ResultStatus>;
  /** Whether the answer has the requested shape. Where none is requested it is valid. */
  readonly output: "unchecked" | "valid" | "invalid";
  /** The latest attempt at the reply, or at the summary, if it failed and nothing followed yet. */
  readonly failed: FailedAttempt | undefined;
  /** A limit of the run that this one spends from, if it is reached. */
  readonly allowance: string | undefined;
}

/** What is known of a call before it runs: what would run, and whether it may. */
export type CallVerdict =
  | { readonly decision: "allow" | "ask"; readonly hash: string }
  | { readonly decision: "refuse"; readonly status: ResultStatus };

/** An attempt that failed, as far as the decision about another one depends on it. */
export interface FailedAttempt {
  readonly cause: RetryHint;
  /** In [0, 1), drawn when it failed. */
  readonly jitter: number;
  /** What it used, until that is reported. */
  readonly used: Spent;
  /** When the next attempt is due, once it is scheduled. */
  readonly retryAt: number | undefined;
}

export const nothingSpent: Spent = { tokens: 0, cost: undefined };

/** The standing of a session before its first fact. */
export const emptyStanding: Standing = { incarnation: 0, queue: [], run: undefined };

/** Nothing is under way and nothing has been found out: a driver that has just begun. */
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

export function emptyRun(run: Pick<RunStanding, "runId" | "startedAt" | "limits">): RunStanding {
  return {
    ...run,
    aborting: false,
    turns: 0,
    used: nothingSpent,
    calls: [],
    contextTokens: 0,
    compacting: false,
    compactions: 0,
    summaryAttempts: 0,
    compacted: "no",
    corrections: 0,
    turn: undefined,
  };
}
