import type { Cause, ItemId, Json, ResultStatus, SessionState, Usage } from "@millrace/core";
import type { Epoch } from "@millrace/core/ports";
import type { Standing } from "./state.ts";

/** What the facts of an action are made of, beside the action itself. */
export interface Known {
  readonly standing: Standing;
  /** The session with its content. */
  readonly state: SessionState;
  /** The highest epoch that this driver has given out. */
  readonly closes: Epoch;
  /** Why a call was refused when it was assessed, by the reserved id of its answer. */
  readonly refusals: (itemId: ItemId) => string | undefined;
  /** What a client's answer came to when it was checked, by the same id. */
  readonly answers: (itemId: ItemId) => CheckedAnswer | undefined;
  /** What is wrong with the shape of the answer. */
  readonly outputProblem: string | undefined;
  /** The attempt that failed last, and that nothing followed yet. */
  readonly failed: FailedFacts | undefined;
}

/** A client's answer to a call, after its output was held against the tool's schema. */
export interface CheckedAnswer {
  readonly status: ResultStatus;
  readonly text: string;
  readonly output?: Json;
}

/** What is known of an attempt that failed: its epoch, its usage and its cause. */
export interface FailedFacts {
  readonly epoch: Epoch;
  readonly usage: Usage;
  readonly cause: Cause;
  /** Whether what it used is among the facts. */
  readonly reported: boolean;
}
