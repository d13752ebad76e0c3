import type { StepAnswer, StepRequest } from "@millrace/agent/engine";
import type { WorkflowArgs } from "./names.ts";

/**
 * The argument of a step, as it stands in a history: ids and numbers. Which run it is, which attempt, and
 * which work it is for, the activity knows from its engine.
 */
export interface StepArgs extends WorkflowArgs, Omit<StepRequest, "by" | "attempt" | "work"> {}

/** What a workflow learns with its first step, and keeps until it is continued as new. */
export interface EngineSettings {
  /** An activity that shows no sign for this long was lost with its worker. */
  readonly heartbeatMs: number;
}

export type StepResult = StepAnswer & { readonly engine?: EngineSettings | undefined };

/** The activities of a worker. Each is one step; its name is what Temporal's own screens show. */
export interface StepActivities {
  /** Reads what has come, and records what follows from it. */
  readonly look: (args: StepArgs) => Promise<StepResult>;
  /** One request to the model, with all that follows from its reply. */
  readonly reply: (args: StepArgs) => Promise<StepResult>;
  /** A turn of an agent's own `respond`. */
  readonly respond: (args: StepArgs) => Promise<StepResult>;
  /** One request for the summary of a long context. */
  readonly compact: (args: StepArgs) => Promise<StepResult>;
  /** The calls of one reply that run on one task queue. */
  readonly tools: (args: StepArgs) => Promise<StepResult>;
  /** Stops the session's run, for an operator who cancels its workflow. */
  readonly stop: (args: WorkflowArgs) => Promise<void>;
}

/** The name of each activity's work in a step. */
export const workOf = {
  look: undefined,
  reply: "reply",
  respond: "respond",
  compact: "compact",
  tools: "execute",
} as const;
