import type {
  InputId,
  ItemId,
  ResultStatus,
  RunId,
  RunOutcome,
  StopReason,
  TurnId,
} from "@millrace/core";
import type { CallStanding } from "./state.ts";

/** What is to be done next. Effects carry reserved ids, so that doing one twice is noticed. */
export type Action =
  /** Nothing, until a fact arrives, something under way ends, or it is that time. */
  | { readonly do: "wait"; readonly until?: number }
  /** Inputs become items and a turn starts; a run with it, if none is on. */
  | {
      readonly do: "begin_turn";
      readonly runId: RunId;
      readonly turnId: TurnId;
      readonly startsRun: boolean;
      readonly takes: readonly InputId[];
    }
  /** The model is asked. */
  | { readonly do: "reply"; readonly turnId: TurnId; readonly itemId: ItemId }
  /** An agent that answers by itself is asked. */
  | { readonly do: "respond"; readonly turnId: TurnId }
  /** Calls are checked: is there such a tool, is the input sound, may it run? */
  | { readonly do: "assess"; readonly calls: readonly CallStanding[] }
  /** A person is asked about exactly what would run. */
  | { readonly do: "ask"; readonly questions: readonly Question[] }
  | { readonly do: "execute"; readonly calls: readonly CallStanding[] }
  /** Calls are answered without being run, so that each has its answer. */
  | { readonly do: "settle"; readonly answers: readonly Answer[] }
  | { readonly do: "finish_turn"; readonly turnId: TurnId; readonly stop: StopReason }
  | {
      readonly do: "compact";
      readonly runId: RunId;
      readonly itemId: ItemId;
      readonly starts: boolean;
    }
  | { readonly do: "check_output" }
  /** The model is told what is wrong with its answer. */
  | {
      readonly do: "correct";
      readonly itemId: ItemId;
      readonly turnId: TurnId;
      readonly message: string;
    }
  /** All that is under way is told to stop. */
  | { readonly do: "interrupt" }
  /** A reply that was never begun ends as aborted, so that the transcript shows the stop. */
  | { readonly do: "abandon_reply"; readonly turnId: TurnId; readonly itemId: ItemId }
  | { readonly do: "finish_run"; readonly runId: RunId; readonly outcome: RunOutcome };

export interface Question {
  readonly call: CallStanding;
  readonly hash: string;
}

export interface Answer {
  readonly call: CallStanding;
  readonly status: ResultStatus;
  readonly message: string;
}
