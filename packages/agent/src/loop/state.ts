import { noUsage } from "@millrace/core";
import type {
  ApprovalId,
  CallId,
  Cause,
  Epoch,
  InputId,
  ItemId,
  JsonObject,
  ResultStatus,
  RunId,
  StopReason,
  TurnId,
  Usage,
} from "@millrace/core";
import type { Effect } from "../tool/tool.ts";
import type { Limits } from "./limits.ts";

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
  /** What its sender asks of the run it begins. */
  readonly options: JsonObject | undefined;
  /** Left over when a run was stopped: it waits for the next prompt instead of beginning a run. */
  readonly held: boolean;
  /** The call that an answer is for. */
  readonly callId: CallId | undefined;
}

export interface RunStanding {
  readonly runId: RunId;
  /** By the clock of whoever started it. */
  readonly startedAt: number;
  readonly aborting: boolean;
  readonly options: JsonObject | undefined;
  readonly turns: number;
  readonly used: Usage;
  /** The latest calls of the run, oldest first, as far as a repetition could reach back. */
  readonly calls: readonly CallPrint[];
  /** The tokens of the latest reply and its request: what the next request is sure to have. */
  readonly contextTokens: number;
  readonly compacting: boolean;
  /** Compactions that this run has tried. */
  readonly compactions: number;
  /**
   * Whether one was tried since the last reply, and whether it helps. It does not if there was
   * nothing to summarise, or if what it left was refused as too long again.
   */
  readonly compacted: "no" | "worked" | "in_vain";
  /** How often the model was told that its answer has not the shape that was asked for. */
  readonly corrections: number;
  readonly turn: TurnStanding | undefined;
}

/** A call without its content: equal for calls of one tool with equal input. */
export interface CallPrint {
  readonly tool: string;
  readonly print: string;
}

export interface TurnStanding {
  readonly turnId: TurnId;
  /** Attempts at the reply that are over, by their reports. */
  readonly attempts: number;
  readonly reply: ReplyStanding | undefined;
  /** Set once the turn is finished. */
  readonly stop: StopReason | undefined;
}

export interface ReplyStanding {
  readonly itemId: ItemId;
  readonly stop: StopReason;
  readonly cause: Cause | undefined;
  readonly calls: readonly CallStanding[];
}

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

export interface ApprovalStanding {
  readonly approvalId: ApprovalId;
  readonly hash: string;
  readonly askedAt: number;
  readonly answer:
    | {
        readonly decision: "allow" | "deny";
        readonly reason: string | undefined;
        readonly at: number;
      }
    | undefined;
}

/** How the agent is set up, as far as decisions depend on it. */
export interface LoopSettings {
  /** The agent answers by itself, instead of a model with tools. */
  readonly custom: boolean;
  readonly limits: Limits;
  readonly tools: Readonly<Record<string, ToolSettings>>;
  /** Tools that run at once, at most. */
  readonly parallel: number;
  /** Above this many tokens the context is compacted. Left out: only when a vendor refuses it. */
  readonly compactAbove: number | undefined;
  /** A question without an answer is a no after this long. */
  readonly approvalSeconds: number | undefined;
}

export interface ToolSettings {
  readonly effect: Effect;
  readonly alone: boolean;
  readonly repeats: number | undefined;
}

/** What this driver has under way, and what it has found out. Gone with the process. */
export interface Doing {
  readonly reply: boolean;
  readonly compaction: boolean;
  readonly assessing: boolean;
  /** Calls that run, by the reserved ids of their answers: call ids come again in later turns. */
  readonly calls: ReadonlySet<ItemId>;
  /** What is under way has been told to stop. */
  readonly interrupted: boolean;
  /** By the same ids. */
  readonly verdicts: ReadonlyMap<ItemId, Verdict>;
  /** Whether the answer has the shape that was asked for. Not asked for: it always has. */
  readonly output: OutputVerdict;
  /** A limit of whoever started this run, if it is reached. */
  readonly allowance: string | undefined;
}

/** What is known of a call before it runs: what would run, and whether it may. */
export type Verdict =
  | { readonly decision: "allow" | "ask"; readonly hash: string }
  | { readonly decision: "refuse"; readonly status: ResultStatus; readonly message: string };

export type OutputVerdict =
  | { readonly state: "unchecked" }
  | { readonly state: "valid" }
  | { readonly state: "invalid"; readonly message: string };

export const emptyStanding: Standing = { incarnation: 0, queue: [], run: undefined };

export const doingNothing: Doing = {
  reply: false,
  compaction: false,
  assessing: false,
  calls: new Set(),
  interrupted: false,
  verdicts: new Map(),
  output: { state: "valid" },
  allowance: undefined,
};

export function emptyRun(run: Pick<RunStanding, "runId" | "startedAt" | "options">): RunStanding {
  return {
    ...run,
    aborting: false,
    turns: 0,
    used: noUsage,
    calls: [],
    contextTokens: 0,
    compacting: false,
    compactions: 0,
    compacted: "no",
    corrections: 0,
    turn: undefined,
  };
}
