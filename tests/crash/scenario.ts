import type { Agent, Limits, Schema, Tool } from "@millrace/agent";
import type { Model, Transcript } from "@millrace/core";
import type { Boundaries } from "./kit/boundaries.ts";
import type { Gates } from "./kit/gates.ts";
import type { Replies } from "./kit/model.ts";
import type { ToolPlan } from "./kit/tools.ts";

/** A session from its first prompt to its end, as data: its agents, and what its user does. */
export interface Scenario {
  readonly name: string;
  /** Described anew in each process. What it does depends on the transcript alone. */
  readonly agent: (stage: Stage) => Agent;
  readonly script: readonly UserStep[];
  /** Inputs that wait in the queue when all is over, since the run they were meant for was stopped. */
  readonly leaves?: number;
  /** What the session begins with. */
  readonly transcript?: Transcript;
}

/** What agents are made of here: models and tools whose doings are counted outside the process. */
export interface Stage {
  readonly model: (replies: Replies) => Model;
  readonly tool: (plan: ToolPlan) => Tool;
  readonly gates: Gates;
  readonly boundaries: Boundaries;
}

/** One thing that the user does. Done again after a crash, it is the same input. */
export type UserStep = StepBase &
  (
    | {
        readonly do: "send";
        readonly text: string;
        readonly limits?: Limits;
        readonly output?: Schema;
      }
    | { readonly do: "steer" | "followUp"; readonly text: string }
    /** Takes back what the step of this place sent. */
    | { readonly do: "takeBack"; readonly step: number }
    | { readonly do: "abort" }
    /** About the question of this number, the first is 1. */
    | { readonly do: "allow" | "deny"; readonly question: number }
    | { readonly do: "answer"; readonly callId: string; readonly output: unknown }
    /** A branch that begins with the items up to the one of this place, and goes on with a prompt. */
    | { readonly do: "fork"; readonly item: number; readonly as: string; readonly text: string }
  );

interface StepBase {
  /** Left out: as soon as the step before it was accepted. */
  readonly when?: Trigger;
  /** The gate that opens once the step was accepted. */
  readonly opens?: string;
}

export type Trigger =
  /** No run is on, and not more than so many inputs wait, for they were meant for a run that was stopped. */
  | { readonly idle: number }
  /** A reply or a tool waits at this gate. */
  | { readonly waits: string }
  | { readonly asked: number }
  | { readonly started: string };
