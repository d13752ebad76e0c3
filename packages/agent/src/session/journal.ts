import { apply, emptyState, replay } from "@millrace/core/reading";
import type { Fact, SessionId, SessionState, SessionUid } from "@millrace/core";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { advance, standingOf } from "../loop/advance.ts";
import { outline } from "../loop/outline.ts";
import type { Standing } from "../loop/state.ts";
import type { Journal } from "../work/host.ts";

export interface JournalOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Called once for each fact, in order, after the fact is in `state` and `standing`. */
  readonly onFact: (fact: Fact) => void;
  /** How many calls the detection of repeats looks at, see `callsToRemember`. */
  readonly remember?: number | undefined;
}

/**
 * The facts of one session in this process, in order and without gaps, and the state and standing that
 * follow from them. Each session host has one; the driver and all views read it.
 *
 * Facts come from the store alone: as answers to writes of this process, or by reading. An announcement
 * from the log only has a number up to which to read, so a forged one costs one read and changes
 * nothing. A fact that arrives before its predecessor is not kept; it is read later with the others.
 * Memory grows with the session, because all facts are kept.
 */
export class SessionJournal implements Journal {
  readonly #options: JournalOptions;
  #facts: Fact[] = [];
  #state: SessionState;
  #standing: Standing;
  #reading: Promise<void> | undefined;
  /** The read after the current one, shared by all calls of `catchUp` during the current one. */
  #nextRead: Promise<void> | undefined;
  /** The highest number announced since `#followHints` last began to read. */
  #hinted = 0;
  #followingHints = false;
  readonly #announcing = new Set<Promise<void>>();

  private constructor(options: JournalOptions, facts: readonly Fact[]) {
    const { uid, sessionId } = options;
    this.#options = options;
    this.#facts = [...facts];
    this.#state = replay(emptyState(uid, sessionId), facts);
    this.#standing = standingOf(facts, options.remember);
  }

  /** Reads the whole session from the store. */
  static async open(options: JournalOptions): Promise<SessionJournal> {
    return new SessionJournal(options, await options.store.read(options.uid));
  }

  get state(): SessionState {
    return this.#state;
  }

  get standing(): Standing {
    return this.#standing;
  }

  get facts(): readonly Fact[] {
    return this.#facts;
  }

  /** Adds facts that the store has just confirmed, then announces them. Does not wait for the log. */
  stored(facts: readonly Fact[]): void {
    this.accepted(facts);
    const { log, uid } = this.#options;
    for (const fact of facts) {
      // A lost announcement is no error: readers also poll the head.
      const announcing = log.announce(uid, fact).catch(() => undefined);
      this.#announcing.add(announcing);
      void announcing.then(() => this.#announcing.delete(announcing));
    }
  }

  /** Adds facts that the store has just confirmed. The caller announces them. */
  accepted(facts: readonly Fact[]): void {
    for (const fact of facts) if (fact.n === this.#state.head + 1) this.#take(fact);
    const last = facts.at(-1);
    if (last !== undefined) this.announcedUpTo(last.n);
  }

  /** Resolves when all announcements have been sent. Awaited before a log is closed. */
  async announced(): Promise<void> {
    await Promise.all(this.#announcing);
  }

  /** Called for each announcement. Reads the store if `n` is new. Many announcements share one read. */
  announcedUpTo(n: number): void {
    this.#hinted = Math.max(this.#hinted, n);
    if (n > this.#state.head && !this.#followingHints) void this.#followHints();
  }

  /**
   * Reads the facts that this process does not have yet. Includes everything that was stored before the
   * call. Rejects if the store fails. Concurrent calls share at most two reads.
   */
  catchUp(): Promise<void> {
    if (this.#reading === undefined) return this.#startRead();
    // The current read may have started before the facts that this caller needs were stored.
    this.#nextRead ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#nextRead = undefined;
        return this.#startRead();
      });
    return this.#nextRead;
  }

  async #followHints(): Promise<void> {
    this.#followingHints = true;
    try {
      while (this.#hinted > this.#state.head) {
        this.#hinted = 0; // a forged number that the store does not have is read for once only
        await this.catchUp();
      }
    } catch {
      // The store failed. The next announcement or poll of the head reads again.
    } finally {
      this.#followingHints = false;
    }
  }

  #startRead(): Promise<void> {
    const reading = this.#read().finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
    return reading;
  }

  async #read(): Promise<void> {
    const { store, uid } = this.#options;
    const facts = await store.read(uid, { after: this.#state.head });
    for (const fact of facts) if (fact.n === this.#state.head + 1) this.#take(fact);
  }

  #take(fact: Fact): void {
    const { uid, sessionId, onFact, remember } = this.#options;
    this.#facts.push(fact);
    const applied = apply(this.#state, fact);
    if (applied.verdict === "gap") {
      // Only a reset gives a gap here. It undoes earlier facts, so compute everything again: O(facts).
      this.#state = replay(emptyState(uid, sessionId), this.#facts);
      this.#standing = standingOf(this.#facts, remember);
    } else {
      this.#state = applied.state;
      this.#standing = advance(this.#standing, outline(fact), remember);
    }
    onFact(fact);
  }
}
