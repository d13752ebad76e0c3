import type { Cause, Item, Model } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";

/** A program that an engine runs and that is not our loop: which of its runs writes, and how often. */
export interface ProgramStep {
  /** The engine's run, by which the session is claimed. */
  readonly by: string;
  /** True if no earlier run of the engine hands its work over to this one: a run that is on is not its own. */
  readonly fresh: boolean;
  /** Of this step alone, and higher than those of all steps that the program has begun before. */
  readonly generation: number;
  /** How often the engine has begun this step, from 1. */
  readonly attempt: number;
}

/** One request of the program to a model, whose reply becomes an item of the session. */
export interface WriteRequest extends ProgramStep {
  /** The lane of the reply. Steps at the same time have different ones. */
  readonly lane: number;
  readonly model: Model;
  readonly request: ModelRequest;
}

/** What became of a request. */
export type Written =
  /** The reply is stored. An earlier attempt may have done it: then the model was not asked again. */
  | { readonly outcome: "written"; readonly item: Item }
  /** A person has stopped the run. */
  | { readonly outcome: "stopped" }
  /** The model failed. With a delay the request may be sent again, as the next attempt at this step. */
  | { readonly outcome: "failed"; readonly cause: Cause; readonly retryInMs?: number | undefined }
  | NotHeld;

/** Nothing may be written under the claim of the engine's run. */
export type NotHeld =
  /** Another run or another driver has claimed the session since, or the run that this step is of is over. */
  | { readonly outcome: "superseded" }
  /** Another driver that lives has the session's run. Ask again later. */
  | { readonly outcome: "driven" };
