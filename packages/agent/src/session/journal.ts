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
  /** Told of each fact once, in order, after it is in the state. */
  readonly onFact: (fact: Fact) => void;
  /** How many calls a repetition may reach back. */
  readonly remember?: number | undefined;
}

/**
 * What one process knows of a session's facts, in order and without holes. Facts come from the store
 * alone: as its answers to this process, or by reading. An announcement only says how far to read, so
 * a forged one costs a read and changes nothing. Nothing that came early is kept: it is read.
 */
export class SessionJournal implements Journal {
  readonly #options: JournalOptions;
  #facts: Fact[] = [];
  #state: SessionState;
  #standing: Standing;
  #reading: Promise<void> | undefined;
  /** The read that follows the one under way, for calls that came after that one began. */
  #nextRead: Promise<void> | undefined;
  /** The highest number announced since the last read for announcements began. */
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

  /** Takes facts that the store answered with, and announces them: durable first, then announced. */
  stored(facts: readonly Fact[]): void {
    this.accepted(facts);
    const { log, uid } = this.#options;
    for (const fact of facts) {
      // An announcement may be lost: readers find the head by themselves.
      const announcing = log.announce(uid, fact).catch(() => undefined);
      this.#announcing.add(announcing);
      void announcing.then(() => this.#announcing.delete(announcing));
    }
  }

  /** Takes facts that the store answered with, and that the caller announces. */
  accepted(facts: readonly Fact[]): void {
    for (const fact of facts) if (fact.n === this.#state.head + 1) this.#take(fact);
    const last = facts.at(-1);
    if (last !== undefined) this.announcedUpTo(last.n);
  }

  /** Settles when what was stored has been announced, so that closing the log then loses nothing. */
  async announced(): Promise<void> {
    await Promise.all(this.#announcing);
  }

  /** An announcement: reads if the number is not known yet. One read at a time, however many come. */
  announcedUpTo(n: number): void {
    this.#hinted = Math.max(this.#hinted, n);
    if (n > this.#state.head && !this.#followingHints) void this.#followHints();
  }

  /** Reads what the store has by now and this process has not. */
  catchUp(): Promise<void> {
    if (this.#reading === undefined) return this.#startRead();
    // The read under way may have begun before what the caller wants was stored.
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
        this.#hinted = 0; // a number that the store does not have is not asked for twice
        await this.catchUp();
      }
    } catch {
      // The store is away: the next announcement, or the poll of the head, reads again.
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
      // Only a reset does not apply: it undoes what is in the state, so that is made anew.
      this.#state = replay(emptyState(uid, sessionId), this.#facts);
      this.#standing = standingOf(this.#facts, remember);
    } else {
      this.#state = applied.state;
      this.#standing = advance(this.#standing, outline(fact), remember);
    }
    onFact(fact);
  }
}
