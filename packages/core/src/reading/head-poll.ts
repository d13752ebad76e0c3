import { MillraceError } from "../errors.ts";
import type { SessionUid } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { pause } from "./pause.ts";

/** A session whose head is read again and again. */
export interface PolledSession {
  readonly uid: SessionUid;
  /** The head, after each poll, also if it has not moved. Must not throw. */
  readonly onHead: (head: number) => void;
  /** The store did not answer, or the session is gone: then it is `unknown_session`. Must not throw. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** True while nothing but the poll brings this session's facts: it is then polled every second. */
  readonly isUrgent?: (() => boolean) | undefined;
  /** The period while it is not urgent. 5 s by default. */
  readonly everyMs?: number | undefined;
}

/** How often a head is read: of a session with a subscription, and of one without. */
const pollMs = { calm: 5_000, urgent: 1_000 } as const;
/** Heads that are read by one statement. */
const headsAtOnce = 500;

/** One poller for each store and clock of this process: many sessions cost one statement. */
const pollers = new WeakMap<SessionStore, WeakMap<Clock, HeadPoller>>();

/**
 * Polls a session's head until the result is called. All sessions of one store and clock are polled
 * together, at multiples of a second by the monotonic clock, so that they share a statement.
 */
export function pollHead(store: SessionStore, clock: Clock, session: PolledSession): () => void {
  const ofStore = pollers.get(store) ?? new WeakMap<Clock, HeadPoller>();
  pollers.set(store, ofStore);
  const poller = ofStore.get(clock) ?? new HeadPoller(store, clock);
  ofStore.set(clock, poller);
  return poller.add(session);
}

/** Polls the heads of all sessions that are open in this process. It has no timer while there is none. */
class HeadPoller {
  readonly #store: SessionStore;
  readonly #clock: Clock;
  /** Each session with the tick from which its period counts. */
  readonly #sessions = new Map<PolledSession, number>();
  /** Ends the sleep between two ticks. */
  #sleep = new AbortController();
  #running = false;

  constructor(store: SessionStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  add(session: PolledSession): () => void {
    this.#sessions.set(session, this.#tick(tickMsOf(session)));
    if (!this.#running) void this.#run();
    return () => {
      this.#sessions.delete(session);
      if (this.#sessions.size === 0) this.#sleep.abort();
    };
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#sessions.size > 0) {
      this.#sleep = new AbortController();
      const tickMs = this.#tickMs();
      const sinceTick = this.#clock.monotonic() % tickMs;
      const { idle } = this.#clock; // a session that is not closed does not keep the process alive
      await pause(this.#clock, tickMs - sinceTick, this.#sleep.signal, idle);
      const due = this.#takeDue(this.#tick(tickMs));
      for (let at = 0; at < due.length; at += headsAtOnce)
        await this.#poll(due.slice(at, at + headsAtOnce));
    }
    this.#running = false;
  }

  /** A second, or the shortest period of a session. */
  #tickMs(): number {
    let tickMs: number = pollMs.urgent;
    for (const session of this.#sessions.keys()) tickMs = Math.min(tickMs, tickMsOf(session));
    return tickMs;
  }

  /** The last multiple of so many milliseconds. */
  #tick(tickMs: number): number {
    const now = this.#clock.monotonic();
    return now - (now % tickMs);
  }

  #takeDue(tick: number): readonly PolledSession[] {
    const due: PolledSession[] = [];
    for (const [session, from] of this.#sessions) {
      const { everyMs = pollMs.calm, isUrgent } = session;
      const periodMs = isUrgent?.() === true ? tickMsOf(session) : everyMs;
      if (tick - from < periodMs) continue;
      this.#sessions.set(session, tick);
      due.push(session);
    }
    return due;
  }

  async #poll(sessions: readonly PolledSession[]): Promise<void> {
    const uids = [...new Set(sessions.map(({ uid }) => uid))];
    const heads = await readHeads(this.#store, uids);
    for (const session of sessions) {
      if (!this.#sessions.has(session)) continue;
      const head = "error" in heads ? heads : (heads.get(session.uid) ?? gone(session.uid));
      if (typeof head === "number") session.onHead(head);
      else session.onFailure?.(head.error);
    }
  }
}

interface Failure {
  readonly error: unknown;
}

/** The heads of those that are there, or why there is no answer for any, or for one. */
async function readHeads(
  store: SessionStore,
  uids: readonly SessionUid[],
): Promise<ReadonlyMap<SessionUid, number | Failure> | Failure> {
  try {
    if (store.heads !== undefined) return await store.heads(uids);
    const read = async (uid: SessionUid) =>
      [uid, await store.head(uid).catch((error: unknown): Failure => ({ error }))] as const;
    return new Map(await Promise.all(uids.map(read)));
  } catch (error) {
    return { error };
  }
}

function gone(uid: SessionUid): Failure {
  return { error: new MillraceError("unknown_session", `no session has the uid ${uid}`) };
}

/** An urgent session is polled so often, and no session more often. */
function tickMsOf({ everyMs = pollMs.calm }: PolledSession): number {
  return Math.min(everyMs, pollMs.urgent);
}
