import type { Fact, RunEvent, RunId, SessionId, SessionState, SessionUid } from "@millrace/core";
import type { Clock, Epoch, EventLog, MakeId, SessionStore } from "@millrace/core/ports";
import type { OpenLane } from "@millrace/core/reading";
import type { Blueprint } from "../definition/blueprint.ts";
import type { Allowance, AskMode } from "../definition/tool-host.ts";
import type { SessionInfo } from "../definition/tool.ts";
import type { Standing } from "../loop/state.ts";
import type { Schema } from "../schema/schema.ts";

/** What one process knows of a session's facts, in order and without holes. */
export interface Journal {
  readonly state: SessionState;
  readonly standing: Standing;
  readonly facts: readonly Fact[];
  /** Takes facts that the store answered with, and announces them. */
  readonly stored: (facts: readonly Fact[]) => void;
  /** Reads what the store has and this process has not. */
  readonly catchUp: () => Promise<void>;
}

/** What the sender of an input wants of its run, as far as it can't be stored. */
export interface RunWishes {
  readonly output: Schema | undefined;
}

/** Everything that a piece of work needs, in one place: ports, journal, agent. */
export interface WorkHost {
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
  /** Whether a run has observers, its agent's or its own. */
  readonly observed: (runId: RunId) => boolean;
  /** Calls them with an event, before it returns. */
  readonly emit: (event: RunEvent) => void;
  readonly wishes: (runId: RunId) => RunWishes;
  readonly allowance: Allowance | undefined;
  readonly depth: number;
  /** Where a sub-agent's questions to a person go. */
  readonly ask: AskMode;
  /** Lanes that this process is writing. */
  readonly lanes: Map<number, () => OpenLane>;
}

/** Thrown inside a piece of work when its session has another driver, or was closed: it just ends. */
export class Fenced extends Error {
  override readonly name = "Fenced";
}

/** Gives out epochs that are never given out twice. */
export interface Epochs {
  readonly next: () => Epoch;
  /** The highest that has been given out. */
  readonly last: () => Epoch;
}
