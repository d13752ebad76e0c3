import type { Item } from "../content/item.ts";
import type { Epoch } from "../event/epoch.ts";
import type { Actor, BodyOf, Fact, FactBody } from "../event/event.ts";
import type { InputId, ItemId, RunId, SessionId, SessionKey, SessionUid } from "../ids.ts";
import type {
  CreateOptions,
  ForkOptions,
  ListOptions,
  PageQuery,
  PeopleFact,
  SessionPage,
  SessionRecord,
  UpdateOutcome,
  UpdateRequest,
} from "./session-record.ts";

/**
 * Facts, for ever, and the claims by which exactly one writer may add each of them. Three sorts of
 * writers have three doors: people by `accept`, a lane's writer by `open` and `commit`, the driver
 * by `append`. Each call is all or nothing, and what it answers has been stored. The facts that a
 * call stored come back with it, for the caller to announce: durable first, then announced. What is
 * handed over is not changed by the caller afterwards. A session's name comes in as a plain string: a
 * store checks it by `sessionId`, and throws `invalid_id` for one that can't be a name.
 */
export interface SessionStore {
  /**
   * Creates a session, and stores its `first` input in the same step: there is never one without the
   * other. Throws `session_exists` if the name is in use, and `invalid_id` for an owner or a title that can't
   * be one, and for the name of a sub-agent's session: only `open` makes those. So do `fork` and imports.
   */
  readonly create: (options: CreateOptions) => Promise<SessionRecord>;
  readonly find: (sessionId: string) => Promise<SessionRecord | undefined>;
  /** All sessions in the order of their ids, sub-agents' too: for programs that go through a store. */
  readonly list: (options?: ListOptions) => Promise<readonly SessionRecord[]>;
  /**
   * The sessions that a person looks for, newest activity first. A session that nothing happens to
   * meanwhile is on exactly one page. One that becomes active moves to the front, so a later page leaves
   * it out. Throws `invalid_id` for an `after` that no page has given.
   */
  readonly page: (query?: PageQuery) => Promise<SessionPage>;
  /**
   * Changes the title and the metadata, and raises the revision by one. With a `revision` only if the
   * record still has that one. No fact, and no activity: the session keeps its place among pages. Throws
   * `unknown_session`, and `invalid_id` for a text that can't be a title.
   */
  readonly update: (uid: SessionUid, change: UpdateRequest) => Promise<UpdateOutcome>;
  /**
   * Deletes the session, its facts, and the sessions of its sub-agents with theirs. Forks stay: they are
   * sessions of their own. Of each a tombstone is left; these are returned, the session's own first. The
   * name may be used again, under another uid. May be repeated, and is, if it failed half way: a repeat
   * completes it and returns the same. Empty if there never was a session of this uid.
   */
  readonly remove: (uid: SessionUid, options?: RemoveOptions) => Promise<readonly Tombstone[]>;
  /** The tombstone of the session that had this name and was removed last. Undefined if there is none. */
  readonly tombstone: (sessionId: string) => Promise<Tombstone | undefined>;

  /**
   * The session's key: 32 random bytes, made with the session, the same for its life, and another one
   * for each session, a fork included. It is in no record, since records are listed and logged. It is
   * handed to `EventLog.setKey`, and to nothing outside the process. Throws `unknown_session`.
   */
  readonly key: (uid: SessionUid) => Promise<SessionKey>;

  /**
   * Milliseconds since 1970 by the one clock of all processes that use this store: it gives facts their
   * time, and deadlines are compared with it, so that hosts may disagree about the hour. Once a call was
   * answered, a store on a server knows its server's clock; before that this is the host's.
   */
  readonly now: () => number;

  /** Facts after the given one, in order, read from the primary. */
  readonly read: (uid: SessionUid, options?: ReadOptions) => Promise<readonly Fact[]>;
  /** The number of the last fact, read from the primary. */
  readonly head: (uid: SessionUid) => Promise<number>;
  /** The heads of many sessions in one call, without those that are not there. Left out: read one by one. */
  readonly heads?: (uids: readonly SessionUid[]) => Promise<ReadonlyMap<SessionUid, number>>;
  /** The lanes that an attempt has opened and nothing has closed: those a reader asks the log for. */
  readonly floors: (uid: SessionUid) => Promise<readonly Floor[]>;

  /**
   * Takes the session from the incarnation that the caller read, by compare-and-set. Throws `invalid_id`
   * for a `by` that can't be one.
   */
  readonly claim: (uid: SessionUid, claim: ClaimRequest) => Promise<ClaimOutcome>;
  /**
   * The incarnation that this run of an engine has claimed, read from the primary. It is below the
   * session's once another claim has come, and stays known after that, also through a reset. Undefined if
   * the run has never claimed the session. A fork has none of its source's. Throws `unknown_session`, and
   * `invalid_id` for a `by` that can't be one.
   */
  readonly claimedBy: (uid: SessionUid, by: string) => Promise<number | undefined>;
  /**
   * Whether an input of this id was ever accepted, by any key, read from the primary. Its cost does not grow
   * with the session. Throws `unknown_session`.
   */
  readonly hasInput: (uid: SessionUid, inputId: InputId) => Promise<boolean>;
  /**
   * Stores a person's input, withdrawal or decision: once for each key, at any head. An input id is
   * used once, under any key. A refused call does not use up its key.
   */
  readonly accept: (uid: SessionUid, key: string, body: PeopleFact) => Promise<AcceptOutcome>;
  /**
   * Raises the lane's floor to this epoch, and stores the intent with it, in one statement. If the intent names
   * the session of a sub-agent, that session is made in the same step, with this one's owner and metadata,
   * unless it is there: the one fact and the other's `parent` are never without each other. Throws
   * `invalid_event` for an intent that names another session's child.
   */
  readonly open: (uid: SessionUid, request: OpenRequest) => Promise<OpenOutcome>;
  /** Stores an item, and its settlement if it has one, for the writer that holds the lane. */
  readonly commit: (uid: SessionUid, request: CommitRequest) => Promise<CommitOutcome>;
  /** Stores what the driver decided, if it holds the session and the head has not moved. */
  readonly append: (uid: SessionUid, request: DriverRequest) => Promise<DriverOutcome>;

  /**
   * The newest checkpoint of the session, so that opening costs what was stored since. A checkpoint is a
   * cache: without one, all facts are read. Undefined if there is none, or if a reset undid facts in it.
   */
  readonly checkpoint?: (uid: SessionUid) => Promise<Checkpoint | undefined>;
  /** Keeps a checkpoint instead of the one before. Ignored if its head is below that one's, or above the session's. */
  readonly keepCheckpoint?: (uid: SessionUid, checkpoint: Checkpoint) => Promise<void>;

  /** True if several processes use the store at once. A session in it needs a log that they share. */
  readonly shared?: boolean;
  /** Which sessions have work, and which drivers live. A store that one process at a time may write has none. */
  readonly drivers?: DriverIndex;

  /**
   * The caller is done with a session for now. A store that lets one process at a time write releases
   * its lock; others need not have this.
   */
  readonly release?: (uid: SessionUid) => Promise<void>;
  /** Takes that hold before anything is written. Throws `session_locked` if another process has it. */
  readonly hold?: (uid: SessionUid) => Promise<void>;

  /**
   * A new session that begins with this one's facts up to `n`, and goes on from their incarnation. Of
   * owner, title and metadata it has this one's where none is given. It is no sub-agent's, and no lane
   * of it is open. What is `added` to it is accepted in the same call, so that it is never opened without.
   */
  readonly fork: (uid: SessionUid, options: ForkOptions) => Promise<SessionRecord>;
}

/** By which actor a session is removed. */
export interface RemoveOptions {
  /** Kept in the tombstones. Left out: they name no actor. */
  readonly actor?: Actor | undefined;
}

/**
 * What a store keeps of a removed session, for ever: no content, and no name, which may be a person's. By
 * a name it is found through the name's hash.
 */
export interface Tombstone {
  readonly uid: SessionUid;
  /** The session whose removal took this one along: its own uid, or that of an agent further up. */
  readonly root: SessionUid;
  /** By the store's clock. */
  readonly at: number;
  readonly actor?: Actor;
  /** The session's owner, so that a caller can be told from a stranger after the removal. */
  readonly owner?: string;
}

/** Which facts are read. Always in order. */
export interface ReadOptions {
  readonly after?: number | undefined;
  /** Facts below this number. With a limit: the last of them. */
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

/** The state of a session at a head, as text that the store does not look into. */
export interface Checkpoint {
  readonly head: number;
  readonly text: string;
}

/**
 * The sessions that have work, and signs of life of those that drive them. A driver is a process: it
 * has one name for all its sessions, and one sign of life.
 */
export interface DriverIndex {
  /** Counts the driver's beat up by one, from 1. Called a few times a second while it drives a run. */
  readonly beat: (driver: string) => Promise<void>;
  /** Forgets the driver's beat: it drives nothing any more. */
  readonly leave: (driver: string) => Promise<void>;
  /** The driver that made the session's last claim, unless it has released the session since. */
  readonly find: (uid: SessionUid) => Promise<LivingSign | undefined>;
  /** Sessions with a run that is on or an input in the queue, those first that have waited longest. */
  readonly due: (options?: DueOptions) => Promise<readonly DueSession[]>;
}

/** A driver, and how often it has beaten. No beat: it never has, or it has left. */
export interface LivingSign {
  readonly driver: string;
  readonly beat?: number | undefined;
  /**
   * Set if the last claim was an engine's: the engine's run that made it. An engine restarts its work by
   * itself, so that no beat is no sign of death.
   */
  readonly by?: string | undefined;
}

/** Which sessions with work are listed. */
export interface DueOptions {
  /** 100 by default. */
  readonly limit?: number | undefined;
  /** Sessions of this driver are left out: it knows them. */
  readonly except?: string | undefined;
}

/** A session with work. Nothing of its content. */
export interface DueSession {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Set where the store serves several tenants: `forTenant` of that store opens the session. */
  readonly tenant?: string | undefined;
  readonly head: number;
  readonly incarnation: number;
  /** The run that is on. Left out: an input waits, and any driver may begin its run. */
  readonly run?: RunId | undefined;
  /** The driver of the last claim. Left out: there is none, or it has released the session. */
  readonly sign?: LivingSign | undefined;
}

/** A lane, and the epoch below which its writers are refused. */
export interface Floor {
  readonly lane: number;
  readonly epoch: Epoch;
}

/** The facts that a lane's writer may store. */
export type LaneFact = BodyOf<"item_committed" | "item_replaced">;

/** What a driver hands over to take a session. */
export interface ClaimRequest {
  /** The incarnation that the caller read before it proved itself the rightful driver. */
  readonly from: number;
  /** After an operator's reset: undo the facts above this one. */
  readonly to?: number | undefined;
  /** The number of facts that the caller decided on. Given: refused if more have come. */
  readonly head?: number | undefined;
  /** The name of the driver, for the index. Left out of an engine's claim: `by` is its name. */
  readonly driver?: string | undefined;
  /**
   * The run of an engine that drives from now on, such as the run id of a workflow: 1 to 200 characters
   * of well-formed text. Each claims a session once: another claim of the same run is refused as
   * `moved`, whatever its `from`. Kept beside the facts, and found by `claimedBy`.
   */
  readonly by?: string | undefined;
  /** The run that is on, and that the caller goes on with. */
  readonly resumes?: RunId | undefined;
}

/** Whether a driver has got the session. */
export type ClaimOutcome =
  | { readonly outcome: "claimed"; readonly incarnation: number; readonly facts: readonly Fact[] }
  /**
   * Another claim was stored first, or facts were stored that the caller has not read, or the engine's run
   * has claimed the session before.
   */
  | { readonly outcome: "moved"; readonly incarnation: number };

/** What a store did with what a person sent. */
export type AcceptOutcome =
  | { readonly outcome: "accepted"; readonly facts: readonly Fact[] }
  /** This key was accepted before, with the same content. */
  | { readonly outcome: "duplicate"; readonly fact: Fact }
  /** `settled`: the input is an item already, or the question was answered. `unknown`: no such thing. */
  | { readonly outcome: "refused"; readonly reason: "key_reused" | "settled" | "unknown" };

/** What a writer hands over to take a lane, for one item. */
export interface OpenRequest {
  readonly lane: number;
  readonly epoch: Epoch;
  /** The reserved id. */
  readonly itemId: ItemId;
  readonly intent?: BodyOf<"tool_execution_started"> | undefined;
}

/** Whether a writer has got the lane. */
export type OpenOutcome =
  | { readonly outcome: "opened"; readonly head: number; readonly facts: readonly Fact[] }
  /** The item exists already: an earlier attempt's answer was lost. */
  | { readonly outcome: "exists"; readonly item: Item }
  /** Not above the lane's floor, or the session has another driver, or another lane has the generation. */
  | { readonly outcome: "fenced" };

/** An item and what it settles, from the writer of its lane. */
export interface CommitRequest {
  readonly fact: LaneFact & { readonly lane: number; readonly epoch: Epoch };
  /** Stored in the same transaction, after the item. */
  readonly settlement?: readonly BodyOf<"tool_execution_finished" | "usage_reported">[] | undefined;
  /**
   * What the driver decides once these are stored: stored with them, in the same transaction. Refused as
   * `moved` if other facts have come since the head that this was decided on; then nothing is stored.
   */
  readonly ahead?: Pick<DriverRequest, "head" | "bodies"> | undefined;
}

/** What a store did with the item of a lane. */
export type CommitOutcome =
  | { readonly outcome: "committed"; readonly facts: readonly Fact[] }
  | { readonly outcome: "exists"; readonly item: Item }
  /** Of a request with `ahead`: commit the item without that, and decide again. */
  | { readonly outcome: "moved"; readonly head: number }
  | { readonly outcome: "fenced" };

/** Facts of the driver, and what its decision rests on. */
export interface DriverRequest {
  readonly incarnation: number;
  /** The head that the decision rests on. */
  readonly head: number;
  readonly bodies: readonly FactBody[];
  /** The lane of the next item, opened in the same transaction: it saves the attempt's own `open`. */
  readonly opens?: Omit<OpenRequest, "intent"> | undefined;
}

/** What a store did with a driver's facts. */
export type DriverOutcome =
  | { readonly outcome: "appended"; readonly facts: readonly Fact[] }
  /** The head has moved meanwhile: decide again. */
  | { readonly outcome: "moved"; readonly head: number }
  | { readonly outcome: "fenced" };
