import type { InputId, ItemId, ResultStatus, RunId, StopReason, TurnId } from "@millrace/core";
import type { CallStanding } from "./state.ts";

/**
 * What is to be done next. Actions carry reserved ids, so that doing one twice is noticed, and no
 * content: what they record is made of the facts by `factsFor`.
 */
export type Action = RecordAction | WorkAction | { readonly do: "wait"; readonly until?: number };

/** The action with this `do`. */
export type ActionOf<Do extends Action["do"]> = Extract<Action, { readonly do: Do }>;

/** Actions that only store facts, which `factsFor` gives. */
export type RecordAction =
  /** Inputs become items and a turn starts; a run with it, if none is on. */
  | {
      readonly do: "begin_turn";
      readonly runId: RunId;
      readonly turnId: TurnId;
      readonly startsRun: boolean;
      readonly takes: readonly InputId[];
    }
  /** An attempt has failed: what it used is stored, and the next one is due after the delay. */
  | {
      readonly do: "schedule_retry";
      readonly of: "reply" | "summary";
      readonly runId: RunId;
      /** The number of the next attempt. */
      readonly attempt: number;
      readonly delayMs: number;
    }
  /** The attempt that failed is the reply: nothing follows it. */
  | { readonly do: "end_reply"; readonly turnId: TurnId; readonly itemId: ItemId }
  /** A reply that no attempt finished ends as aborted, so that the transcript shows the stop. */
  | { readonly do: "abandon_reply"; readonly turnId: TurnId; readonly itemId: ItemId }
  /** A person is asked about exactly what would run. */
  | { readonly do: "ask"; readonly questions: readonly Question[] }
  /** A client is asked to carry calls out. Nothing runs meanwhile: the answer is an input. */
  | { readonly do: "await_client"; readonly calls: readonly CallStanding[] }
  /** Calls are answered without being run here, so that each has its answer. */
  | { readonly do: "settle"; readonly answers: readonly Answer[] }
  /** A turn that ends as aborted without an aborted item gets one, so that the transcript shows it. */
  | { readonly do: "finish_turn"; readonly turnId: TurnId; readonly stop: StopReason }
  /** The run was stopped between two turns: the next one begins and ends as aborted. */
  | { readonly do: "show_stop"; readonly runId: RunId; readonly turnId: TurnId }
  | { readonly do: "start_compaction"; readonly runId: RunId }
  /** The compaction under way comes to nothing. */
  | { readonly do: "end_compaction"; readonly runId: RunId }
  /** The model is asked to mend its answer. */
  | { readonly do: "correct"; readonly itemId: ItemId; readonly turnId: TurnId }
  | { readonly do: "finish_run"; readonly runId: RunId; readonly ending: RunEnding };

/** Actions that take long, or look at what only this process has. What comes of them is a fact later. */
export type WorkAction =
  /** The model is asked, once. */
  | {
      readonly do: "reply";
      readonly turnId: TurnId;
      readonly itemId: ItemId;
      readonly attempt: number;
    }
  /** An agent that answers by itself is asked. */
  | { readonly do: "respond"; readonly turnId: TurnId }
  /** Calls are checked: is there such a tool, is the input sound, may it run? */
  | { readonly do: "assess"; readonly calls: readonly CallStanding[] }
  | { readonly do: "execute"; readonly calls: readonly ReadyCall[] }
  /** Answers of clients are checked against the shapes of their tools. */
  | { readonly do: "check_answers"; readonly calls: readonly CallStanding[] }
  /** The summary is written, by one request to a model. */
  | {
      readonly do: "compact";
      readonly runId: RunId;
      readonly itemId: ItemId;
      readonly attempt: number;
    }
  | { readonly do: "check_output" }
  /** The signal of all that is under way is aborted. */
  | { readonly do: "interrupt" };

/** A call that a person has to allow, and the hash of exactly what is asked. */
export interface Question {
  readonly call: CallStanding;
  readonly hash: string;
}

/** A call that may run, and the hash of exactly what was assessed, which is what runs. */
export interface ReadyCall extends CallStanding {
  readonly hash: string;
}

/** The result that a call gets without being run here. */
export interface Answer {
  readonly call: CallStanding;
  readonly status: ResultStatus;
  readonly why: AnswerReason;
}

/**
 * Why a call is answered without being run here: it was refused when it was assessed, a person said
 * no, the question ran out of time, a client answered it, its process ended before the outcome was
 * known, the run was stopped before it ran or before its client answered, or the reply that asks for
 * it did not end by asking for tools.
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

/** How a run ends. Why it failed is read from the facts: its reply, the filter, or its output. */
export type RunEnding =
  | { readonly outcome: "completed" | "aborted" }
  | { readonly outcome: "limited"; readonly limit: string }
  | { readonly outcome: "failed"; readonly why: "reply" | "filtered" | "output" };
