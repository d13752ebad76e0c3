import type { InputId, ItemId, ResultStatus, RunId, StopReason, TurnId } from "@millrace/core";
import type { CallStanding } from "./state.ts";

/**
 * The result of `decide`. An action has reserved ids and no content. The ids make it safe to perform an
 * action twice: the store refuses the second one. The content of recorded facts is added by `factsFor`.
 */
export type Action = RecordAction | WorkAction | { readonly do: "wait"; readonly until?: number };

/** The action with this `do`. */
export type ActionOf<Do extends Action["do"]> = Extract<Action, { readonly do: Do }>;

/** Actions that only store facts. `factsFor` makes the facts, and the driver appends them. */
export type RecordAction =
  /** Turns queued inputs into items and starts a turn. Starts the run too if `startsRun`. */
  | {
      readonly do: "begin_turn";
      readonly runId: RunId;
      readonly turnId: TurnId;
      readonly startsRun: boolean;
      readonly takes: readonly InputId[];
    }
  /** Stores the usage of a failed attempt. The next attempt starts after the delay. */
  | {
      readonly do: "schedule_retry";
      readonly of: "reply" | "summary";
      readonly runId: RunId;
      /** The number of the next attempt. */
      readonly attempt: number;
      readonly delayMs: number;
      /** True if it goes without what a model thought before. */
      readonly dropsReasoning?: true;
    }
  /** Stores the failed attempt as the reply, because there is no further retry. */
  | { readonly do: "end_reply"; readonly turnId: TurnId; readonly itemId: ItemId }
  /** Stores an unfinished reply as aborted, so that the transcript shows the stop. */
  | { readonly do: "abandon_reply"; readonly turnId: TurnId; readonly itemId: ItemId }
  /** Requests approvals from a person, each for one exact input. */
  | {
      readonly do: "ask";
      readonly questions: readonly Question[];
      readonly seconds?: number;
    }
  /** Marks calls as started by a client. The client's answer arrives later as an input. */
  | { readonly do: "await_client"; readonly calls: readonly ReadyCall[] }
  /** Stores results of calls that do not run in this process, because every call needs a result. */
  | { readonly do: "settle"; readonly answers: readonly Answer[] }
  /** Ends the turn. An aborted turn without an aborted item gets one, so that the transcript shows the stop. */
  | { readonly do: "finish_turn"; readonly turnId: TurnId; readonly stop: StopReason }
  /** For a run that was stopped between two turns: stores one more turn that is aborted at once. */
  | { readonly do: "show_stop"; readonly runId: RunId; readonly turnId: TurnId }
  | { readonly do: "start_compaction"; readonly runId: RunId }
  /** Ends the current compaction without a summary. */
  | { readonly do: "end_compaction"; readonly runId: RunId }
  /** Stores an item that asks the model to correct the shape of its answer, and starts a turn. */
  | { readonly do: "correct"; readonly itemId: ItemId; readonly turnId: TurnId }
  | { readonly do: "finish_run"; readonly runId: RunId; readonly ending: RunEnding }
  /**
   * Ends a run that keeps losing its drivers: its reply or its open calls, its turn and itself, in one
   * transaction. In several, the first one would look as if the run moved again.
   */
  | { readonly do: "give_up"; readonly runId: RunId; readonly answers: readonly Answer[] };

/**
 * Actions that take long, or use what only this process has, such as tools and schemas. They run beside
 * the loop. Their result becomes a fact, or is kept in the driver's `TurnMemory`.
 */
export type WorkAction =
  /** Sends one request to the model. */
  | {
      readonly do: "reply";
      readonly turnId: TurnId;
      readonly itemId: ItemId;
      readonly attempt: number;
    }
  /** Calls the `respond` function of an agent without a model. */
  | { readonly do: "respond"; readonly turnId: TurnId }
  /** Checks calls: the tool exists, its schema accepts the input, the policies allow it. */
  | { readonly do: "assess"; readonly calls: readonly CallStanding[] }
  | { readonly do: "execute"; readonly calls: readonly ReadyCall[] }
  /** Checks answers of clients against the output schemas of their tools. */
  | { readonly do: "check_answers"; readonly calls: readonly CallStanding[] }
  /** Writes the summary of a compaction by one request to a model. */
  | {
      readonly do: "compact";
      readonly runId: RunId;
      readonly itemId: ItemId;
      readonly attempt: number;
    }
  | { readonly do: "check_output" }
  /** Aborts the signals of all work in progress. */
  | { readonly do: "interrupt" };

/** A call that needs an approval, and the hash of the exact input that the person approves. */
export interface Question {
  readonly call: CallStanding;
  readonly hash: string;
}

/** A call that may run, and the hash of the assessed input. The driver runs nothing else, see `beginCall`. */
export interface ReadyCall extends CallStanding {
  readonly hash: string;
}

/** The result of a call that does not run in this process. */
export interface Answer {
  readonly call: CallStanding;
  readonly status: ResultStatus;
  readonly why: AnswerReason;
}

/**
 * Why a call gets a result without running in this process:
 * - `refused`: its assessment refused it.
 * - `denied`: a person denied it.
 * - `expired`: no approval came in time.
 * - `answered`: a client answered it.
 * - `lost`: the process that ran it ended before it stored the outcome.
 * - `stopped`: the run was stopped before it ran.
 * - `unanswered`: the run was stopped before its client answered.
 * - `reply_not_whole`: its reply did not end with the stop reason `tools`.
 */
export type AnswerReason =
  | "refused"
  | "denied"
  | "expired"
  | "answered"
  | "lost"
  | "stopped"
  | "unanswered"
  | "reply_not_whole";

/** How a run ends. `factsFor` takes the cause of a failure from the reply, the filter or the output. */
export type RunEnding =
  | { readonly outcome: "completed" | "aborted" }
  | { readonly outcome: "limited"; readonly limit: string }
  | { readonly outcome: "failed"; readonly why: "reply" | "filtered" | "output" };
