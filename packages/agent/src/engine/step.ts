import type { Cause, Item, ItemId, Model, ResultStatus } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { BriefSettings, BriefStanding, BriefTools } from "../loop/brief.ts";
import type { Outline } from "../loop/outline.ts";
import type { CallVerdict, Doing, FailedAttempt } from "../loop/state.ts";

/** The long actions. An engine performs each in one step, so that it can be lost and repeated alone. */
export type LongWork = "reply" | "respond" | "compact" | "execute";

/**
 * One step of a session that an engine drives: at most one long action, and everything around it that
 * only records. Ids and numbers only, so that it may stand in an engine's history.
 */
export interface StepRequest {
  /** The engine's run, by which the session is claimed. */
  readonly by: string;
  /** The number of the last fact that the engine knows. 0: it knows nothing yet. */
  readonly head: number;
  /** The long action that this step may perform. Left out: it only records. */
  readonly work?: LongWork | undefined;
  /** The calls that this step may execute, by the reserved ids of their results. */
  readonly calls?: readonly ItemId[] | undefined;
  /** What other steps of the same run are doing. */
  readonly elsewhere?: Elsewhere | undefined;
  /** The first of the generations that are this step's own, one for each item that it writes. */
  readonly generation: number;
  /** The highest generation that the run has given out. */
  readonly given: number;
  /** How often the engine has begun this step, from 1. */
  readonly attempt: number;
  /** True if `settings` are wanted in the answer. */
  readonly wantsSettings?: boolean | undefined;
  /**
   * True if the engine knows questions by their ids and none by its hash. Answers then have no hash of an input, which
   * one who has the history could find by trying inputs. Left out by engines of older versions.
   */
  readonly namesQuestions?: boolean | undefined;
  /** True if an earlier run of the engine hands its work over to this one, so that no driver was lost. */
  readonly continues?: boolean | undefined;
}

/** Work under way in other steps. */
export interface Elsewhere {
  readonly reply?: boolean | undefined;
  readonly compaction?: boolean | undefined;
  readonly calls?: readonly ItemId[] | undefined;
}

/** What a step uses of its engine. */
export interface StepContext {
  /** Aborted if the step is to end without storing anything: it is lost, or its worker shuts down. */
  readonly signal: AbortSignal;
  /** Whether the engine's run is the session's current one. Asked before it claims the session. */
  readonly isCurrent: () => Promise<boolean>;
  /**
   * Whether the attempt before this one was given up because its worker was silent. Asked by a step that is
   * repeated. Left out: no attempt counts as lost.
   */
  readonly wasLost?: (() => Promise<boolean>) | undefined;
}

/** What became of a step. Without content, as the request. */
export type StepAnswer =
  | Stepped
  /** Another run or another driver has claimed the session since: this run is over. */
  | { readonly outcome: "superseded" }
  /** Another driver that lives has the session's run. Ask again later. */
  | { readonly outcome: "driven" }
  /** The session was removed, or no agent of this worker is for it. */
  | { readonly outcome: "gone" };

/** A step that was performed, with what the engine must know to decide on the next. */
export interface Stepped {
  readonly outcome: "stepped";
  /** The number of the last fact that this answer includes. */
  readonly head: number;
  /** The facts since the request's head. Left out: see `standing`. */
  readonly outlines?: readonly Outline[] | undefined;
  /** Instead of outlines, if the engine knew nothing, or facts were undone, or there are many. */
  readonly standing?: BriefStanding | undefined;
  readonly memory: StepMemory;
  /** The time by the store's clock. */
  readonly now: number;
  /** The highest generation that was used, if it is above the given ones. */
  readonly generation?: number | undefined;
  /** The tools of the calls that are open at `head`, as far as they are not as usual. */
  readonly tools?: BriefTools | undefined;
  readonly settings?: BriefSettings | undefined;
}

/** The part of `Doing` that a step found out and did not store. Left out: as of a driver that has just started. */
export interface StepMemory {
  readonly verdicts?: readonly (readonly [ItemId, CallVerdict])[] | undefined;
  readonly answers?: readonly (readonly [ItemId, ResultStatus])[] | undefined;
  readonly output?: Doing["output"] | undefined;
  /** With the time of the retry as milliseconds from `now`. */
  readonly failed?: (Omit<FailedAttempt, "retryAt"> & { readonly retryInMs?: number }) | undefined;
}

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
  | NotClaimed;

/** Nothing may be written under the claim of the engine's run. */
export type NotClaimed =
  /** Another run or another driver has claimed the session since, or the run that this step is of is over. */
  | { readonly outcome: "superseded" }
  /** Another driver that lives has the session's run. Ask again later. */
  | { readonly outcome: "driven" };
