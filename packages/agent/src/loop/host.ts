import type {
  Clock,
  Epoch,
  EventLog,
  InputId,
  Json,
  MakeId,
  Model,
  OpenLane,
  RetryPolicy,
  RunEvent,
  RunId,
  SessionId,
  SessionStore,
  SessionUid,
  Usage,
} from "@millrace/core";
import type { ContextSettings, PolicyRule, Respond } from "../agent.ts";
import type { Hooks } from "../hooks.ts";
import type { Schema } from "../schema/schema.ts";
import type { Journal } from "../session/journal.ts";
import type { Allowance, AskMode } from "../tool/host.ts";
import type { AnyTool, SessionInfo } from "../tool/tool.ts";
import type { LoopSettings } from "./state.ts";

/** An agent with all its defaults filled in. */
export interface Blueprint {
  readonly name: string;
  readonly settings: LoopSettings;
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly model: Model | undefined;
  readonly instructions: string | ((session: SessionInfo) => string | Promise<string>) | undefined;
  readonly respond: Respond | undefined;
  readonly rules: readonly PolicyRule[];
  readonly hooks: Hooks;
  readonly context: ContextSettings | undefined;
  readonly retry: RetryPolicy;
  readonly price: ((usage: Usage, model: string) => number) | undefined;
}

/** What whoever sent an input wants of its run, as far as it can't be stored. */
export interface RunWishes {
  readonly output: Schema | undefined;
}

/** Everything that performing an action needs, in one place: ports, journal, agent. */
export interface Host {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly info: SessionInfo;
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** In [0, 1). */
  readonly random: () => number;
  readonly agent: Blueprint;
  readonly journal: Journal;
  /** Whether there are observers. */
  readonly observed: boolean;
  /** Shows an event to them. */
  readonly emit: (event: RunEvent) => void;
  readonly wishes: (runId: RunId) => RunWishes;
  readonly allowance: Allowance | undefined;
  readonly depth: number;
  /** Who answers what a sub-agent's policies put to a person. */
  readonly ask: AskMode;
  /** The answer of whoever watches to a call, once it is there; nothing if the signal is aborted first. */
  readonly answered: (
    answer: InputId,
    signal: AbortSignal,
  ) => Promise<{ readonly inputId: InputId; readonly output: Json } | undefined>;
  /** Lanes that this process is writing. */
  readonly lanes: Map<number, () => OpenLane>;
}

/** Thrown inside a performer when its session has another driver, or was closed: it just ends. */
export class Fenced extends Error {
  override readonly name = "Fenced";
}

/** Gives out epochs that are never given out twice. */
export interface Epochs {
  readonly next: () => Epoch;
  /** The highest that has been given out. */
  readonly last: () => Epoch;
}
