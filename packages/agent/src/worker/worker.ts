import type {
  BlobStore,
  Clock,
  DriverIndex,
  DueSession,
  EventLog,
  SessionRecord,
  SessionStore,
} from "@millrace/core/ports";
import type { SessionId, SessionUid } from "@millrace/core";
import type { Agent } from "../define/agent.ts";
import type { Allowance } from "../definition/tool-host.ts";

/** A store of several tenants. Its index lists sessions of all of them, each with its tenant. */
export interface TenantStore extends SessionStore {
  /** Set where the index lists the sessions of this tenant alone, although others can be opened. */
  readonly ownTenant?: string | undefined;
  readonly forTenant?: ((tenant: string) => SessionStore) | undefined;
}

/** An agent that drives sessions, or a function that chooses one. Undefined: not for this worker. */
export type ChooseAgent = (
  session: SessionRecord,
) => Agent | undefined | Promise<Agent | undefined>;

/** A slot among the sessions that are worked on at once. */
export interface SessionSlot {
  /** Called when the session's run begins to wait for a person, and when it goes on. */
  readonly rest: (rests: boolean) => void;
  /**
   * Called when the session stays open without work, for the next prompt, and when work comes. A process that dies
   * meanwhile leaves nothing that another one takes over, so the slot should then be free again within seconds.
   */
  readonly idle?: ((idle: boolean) => void) | undefined;
  /**
   * Called after this worker has taken the session over: the store has this worker's claim, which ended that of
   * `driver`. What that one held for the session is free. May be called for a driver that holds nothing.
   */
  readonly supersede?: ((driver: string) => void) | undefined;
  /** The session was closed here. A promise settles once the slot is free: a worker that stops waits 2 s for it. */
  readonly leave: () => void | Promise<void>;
}

/** What a worker drives, where, and how much of it. */
export interface WorkerOptions {
  /** The agent of all sessions, or the choice of one by the session's name and metadata. */
  readonly agent: Agent | ChooseAgent;
  /** Must have an index of drivers: PostgreSQL, or memory in tests. */
  readonly store: TenantStore;
  readonly log: EventLog;
  /** As in `agent.open`: the one that those have who send. */
  readonly blobs?: BlobStore | undefined;
  /** The index of a store that has none, kept by the one process that writes it. Left out: the store's. */
  readonly index?: DriverIndex | undefined;
  /**
   * Whether a session may be worked on now, beside those that are open here and do not wait for a person.
   * False: it stays in the queue, and is asked for again with each read of the index.
   */
  readonly admit?:
    | ((session: SessionRecord, beside: readonly SessionRecord[]) => boolean)
    | undefined;
  /**
   * Asks for a slot among the sessions of all processes, after `admit` has agreed. Undefined: none is free,
   * and the session is asked for again after about a second. Must not reject. `driver` is the name of this
   * worker, by which another one that takes the session over gives its slot back.
   */
  readonly acquireSlot?:
    | ((session: SessionRecord, driver: string) => Promise<SessionSlot | undefined>)
    | undefined;
  /** The budget that a session's runs and their sub-agents spend, beyond their own limits. Must not reject. */
  readonly allowance?: ((session: SessionRecord) => Promise<Allowance | undefined>) | undefined;
  /** How many runs are worked on at once. Runs that wait for a person do not count. 100 by default. */
  readonly capacity?: number | undefined;
  /** How long `shutdown` waits for turns in progress, in milliseconds. 30,000 by default. */
  readonly drainMs?: number | undefined;
  /** How long a session without work stays open, so that a prompt that follows is driven at once. 5,000 ms by default. */
  readonly idleMs?: number | undefined;
  /** After this many failures in a row, or drivers that a run has lost in a row, a session is in `poisoned`. 5 by default. */
  readonly poisonAfter?: number | undefined;
  /** Called with what the worker does. Must not throw. */
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
  readonly clock?: Clock | undefined;
  /** As in `agent.open`: for tests. */
  readonly random?: (() => number) | undefined;
}

/** A process that drives the sessions of a store: those with a new input, and those without a living driver. */
export interface Worker extends AsyncDisposable {
  /** The name by which other processes know this one in the store's index. */
  readonly name: string;
  /**
   * Takes and drives sessions. Resolves after `shutdown`. With `signals` the process's SIGTERM and
   * SIGINT shut the worker down, and a second one ends the wait for turns in progress.
   */
  readonly run: (options?: { readonly signals?: boolean | undefined }) => Promise<void>;
  /**
   * Takes nothing new, waits for turns in progress up to `drainMs`, and releases the rest, so that other
   * workers go on with it at once. Resolves when all sessions are closed. May be called again.
   */
  readonly shutdown: (options?: { readonly drainMs?: number | undefined }) => Promise<void>;
  /**
   * Takes a session at once, if there is room, instead of with the next read of the index. For a process
   * that has just stored an input. A session with a run is left to the driver that has it.
   */
  readonly wake: (session: DueSession & { readonly isRunning?: boolean | undefined }) => void;
  /** The sessions that this worker has open. */
  readonly sessions: () => readonly SessionId[];
  /** The sessions that keep failing here, with the time to their next try. */
  readonly poisoned: () => readonly PoisonedSession[];
}

/** A session that failed several times in a row. It is tried again, with pauses up to five minutes. */
export interface PoisonedSession {
  readonly sessionId: SessionId;
  readonly uid: SessionUid;
  readonly tenant?: string | undefined;
  readonly error: unknown;
  readonly tries: number;
  readonly nextTryInMs: number;
}

interface OfSession {
  readonly sessionId: SessionId;
  readonly uid: SessionUid;
  readonly tenant?: string | undefined;
}

/** What a worker does, for a log. */
export type WorkerEvent =
  /** It has opened a session. `after` is the dead driver that it takes the run over from. */
  | (OfSession & { readonly type: "session_taken"; readonly after?: string | undefined })
  /** It has closed a session: without work, driven by another process, or because of `shutdown`. */
  | (OfSession & {
      readonly type: "session_closed";
      readonly why: "idle" | "driven_elsewhere" | "shutdown";
    })
  /** The session could not be opened, or its driver broke. */
  | (OfSession & {
      readonly type: "session_failed";
      readonly error: unknown;
      readonly tries: number;
      readonly nextTryInMs: number;
      readonly poisoned: boolean;
    })
  /** The store did not list its sessions. Reported once for each outage. */
  | { readonly type: "store_away"; readonly error: unknown }
  | { readonly type: "shutdown"; readonly open: number };
