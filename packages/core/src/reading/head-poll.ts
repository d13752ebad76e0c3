import type { SessionUid } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { SessionStore } from "../ports/session-store.ts";

/** A session whose head is read again and again. */
export interface PolledSession {
  readonly uid: SessionUid;
  /** The head, after each poll, also if it has not moved. Must not throw. */
  readonly onHead: (head: number) => void;
  /** The store did not answer, or the session is gone. Must not throw. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** True while nothing but the poll brings this session's facts: it is then polled every second. */
  readonly isUrgent?: (() => boolean) | undefined;
}

/** How often a head is read: of a session with a subscription, and of one without. */
const pollMs = { calm: 5_000, urgent: 1_000 } as const;
/** Heads that are read by one statement. */
const headsAtOnce = 500;

/** One poller for each store and clock of this process: many sessions cost one statement. */
const pollers = new WeakMap<SessionStore, WeakMap<Clock, HeadPoller>>();

/** Polls a session's head until the result is called. */
export function pollHead(store: SessionStore, clock: Clock, session: PolledSession): () => void {
  const ofStore = pollers.get(store) ?? new WeakMap<Clock, HeadPoller>();
  pollers.set(store, ofStore);
  const poller = ofStore.get(clock) ?? new HeadPoller(store, clock);
  ofStore.set(clock, poller);
  return poller.add(session);
}

/** Polls the heads of all sessions that are open in this process. It rests while there is none. */
class HeadPoller {
  readonly #store: SessionStore;
  readonly #clock: Clock;
  readonly #sessions = new Map<PolledSession, { dueAt: number }>();
  #done: AbortController | undefined;

  constructor(store: SessionStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  add(session: PolledSession): () => void {
    this.#sessions.set(session, { dueAt: this.#clock.monotonic() + pollMs.calm });
    if (this.#done === undefined) void this.#run();
    return () => {
      this.#sessions.delete(session);
      if (this.#sessions.size === 0) this.#done?.abort();
    };
  }

  async #run(): Promise<void> {
    const done = new AbortController();
    this.#done = done;
    while (!done.signal.aborted) {
      await this.#clock.sleep(pollMs.urgent, done.signal);
      const due = this.#takeDue();
      for (let at = 0; at < due.length && !done.signal.aborted; at += headsAtOnce)
        await this.#poll(due.slice(at, at + headsAtOnce));
    }
    if (this.#done === done) this.#done = undefined;
    if (this.#sessions.size > 0 && this.#done === undefined) void this.#run();
  }

  /** The sessions whose time has come. A session waits for its whole period, or for a second. */
  #takeDue(): readonly PolledSession[] {
    const now = this.#clock.monotonic();
    const due: PolledSession[] = [];
    for (const [session, times] of this.#sessions) {
      if (now < times.dueAt && session.isUrgent?.() !== true) continue;
      times.dueAt = now + pollMs.calm;
      due.push(session);
    }
    return due;
  }

  async #poll(sessions: readonly PolledSession[]): Promise<void> {
    try {
      const heads = await readHeads(
        this.#store,
        sessions.map(({ uid }) => uid),
      );
      for (const session of sessions) {
        if (!this.#sessions.has(session)) continue;
        const head = heads.get(session.uid);
        if (typeof head === "number") session.onHead(head);
        else session.onFailure?.(head?.error);
      }
    } catch (error) {
      for (const session of sessions) if (this.#sessions.has(session)) session.onFailure?.(error);
    }
  }
}

type Heads = ReadonlyMap<SessionUid, number | { readonly error: unknown }>;

async function readHeads(store: SessionStore, uids: readonly SessionUid[]): Promise<Heads> {
  if (store.heads !== undefined) return await store.heads(uids);
  const read = async (uid: SessionUid) =>
    [uid, await store.head(uid).catch((error: unknown) => ({ error }))] as const;
  return new Map(await Promise.all(uids.map(read)));
}
