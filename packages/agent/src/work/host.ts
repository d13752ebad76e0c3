import type {
  Fact,
  ItemId,
  RunEvent,
  RunId,
  SessionId,
  SessionState,
  SessionUid,
} from "@millrace/core";
import type {
  BlobScope,
  BlobStore,
  Clock,
  Epoch,
  EventLog,
  MakeId,
  SessionStore,
} from "@millrace/core/ports";
import type { OpenLane } from "@millrace/core/reading";
import type { Blueprint } from "../definition/blueprint.ts";
import type { Allowance, AskMode } from "../definition/tool-host.ts";
import type { SessionInfo } from "../definition/tool.ts";
import type { Standing } from "../loop/state.ts";
import type { Context } from "../context/context.ts";
import type { Schema } from "@millrace/core/schema";
import type { RunRecords } from "./run-records.ts";

/** A session as far as this process has its facts, which it takes in order and without gaps. */
export interface Journal {
  readonly state: SessionState;
  readonly standing: Standing;
  /** The items that requests are made of. */
  readonly context: Context;
  /** The runs of the session, as far as this process has seen them. */
  readonly runs: RunRecords;
  /** Adds facts that the store has just confirmed, and announces them to other processes. */
  readonly stored: (facts: readonly Fact[]) => void;
  /** Reads the facts that this process does not have yet. */
  readonly catchUp: () => Promise<void>;
}

/** Options of a run that can't be stored. Only the process that sent the input has them. */
export interface LocalRunOptions {
  readonly output: Schema | undefined;
}

/** Everything that work uses: ports, journal, agent. The session host makes one for its driver. */
export interface WorkHost {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly info: SessionInfo;
  /** Whose the session is, by its record. Undefined: nobody's. */
  readonly owner: string | undefined;
  /** Its calls wait while the store is away, and reject only for a broken contract or after closing. */
  readonly store: SessionStore;
  /** The same store as the user gave it, for sub-agents: open sessions are shared by store. */
  readonly originalStore: SessionStore;
  readonly log: EventLog;
  /** Where bytes of more than 32 KiB go. Left out: they stay in their parts. */
  readonly blobs?: BlobStore | undefined;
  /** Whose blobs are this session's. */
  readonly blobScope: BlobScope;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** In [0, 1). */
  readonly random: () => number;
  readonly agent: Blueprint;
  readonly journal: Journal;
  /** True if the run has observers: those of its agent, or its own. */
  readonly observed: (runId: RunId) => boolean;
  /** Calls the observers of the session and of the event's run, synchronously. */
  readonly emit: (event: RunEvent) => void;
  readonly runOptions: (runId: RunId) => LocalRunOptions;
  readonly allowance: Allowance | undefined;
  /** How many agents are above this one: 0 for a session that a user opened. */
  readonly depth: number;
  /** True if the session is closed after its first run. */
  readonly runsOnce: boolean;
  /** Names the session to vendors without giving its id away. */
  readonly conversationKey: string;
  /** Answers the approval requests of this session and of its sub-agents. */
  readonly ask: AskMode;
  /** The lanes that this process is writing, by number. The session's view reads their drafts. */
  readonly lanes: Map<number, () => OpenLane>;
}

/**
 * Thrown inside work when another driver has claimed the session, or the session was closed. The work
 * ends without storing anything; the next driver continues from the facts.
 */
export class Fenced extends Error {
  override readonly name = "Fenced";
}

/** Makes epochs. No epoch is made twice in a session, because each has the claimed incarnation in it. */
export interface Epochs {
  /** `of` is the item that a call reserves: an engine gives each call of a step a generation of its own. */
  readonly next: (of?: ItemId) => Epoch;
  /** An upper bound of all epochs made so far. Facts that close lanes use it. */
  readonly last: () => Epoch;
}
