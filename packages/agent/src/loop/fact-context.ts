import type { Cause, ItemId, Json, ResultStatus, SessionState, Usage } from "@millrace/core";
import type { Epoch } from "@millrace/core/ports";
import type { Standing } from "./state.ts";

/** The content that `factsFor` needs besides the action. A driver makes one for each action. */
export interface FactContext {
  readonly standing: Standing;
  /** The session with its content. */
  readonly state: SessionState;
  /** An upper bound of the epochs that this driver has made. Finished turns and runs close lanes up to it. */
  readonly closes: Epoch;
  /** The message of a refused call, by the reserved id of its result. */
  readonly refusals: (itemId: ItemId) => string | undefined;
  /** What the tool of a call would get, where its schema changes the input, by the same id. */
  readonly parsed: (itemId: ItemId) => Json | undefined;
  /** The checked answer of a client, by the same id. */
  readonly answers: (itemId: ItemId) => CheckedAnswer | undefined;
  /** Why the answer does not match the requested schema. */
  readonly outputProblem: string | undefined;
  /** The latest failed attempt, until its retry or its end is stored. */
  readonly failed: FailedFacts | undefined;
}

/** A client's answer to a call, after the tool's output schema has checked it. */
export interface CheckedAnswer {
  readonly status: ResultStatus;
  readonly text: string;
  readonly output?: Json;
}

/** A failed attempt, as far as facts about it need it. */
export interface FailedFacts {
  readonly epoch: Epoch;
  readonly usage: Usage;
  readonly cause: Cause;
  /** True once its usage is stored. */
  readonly reported: boolean;
}
