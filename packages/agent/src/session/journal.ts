import {
  applyPaged,
  emptyState,
  encodeCheckpoint,
  readSession,
  replayPaged,
} from "@millrace/core/reading";
import type { Fact, SessionId, SessionState, SessionUid } from "@millrace/core";
import type { Checkpoint, EventLog, SessionStore } from "@millrace/core/ports";
import type { PagedState } from "@millrace/core/reading";
import type { Context } from "../context/context.ts";
import { contextAfter, contextOf } from "../context/context.ts";
import { advance } from "../loop/advance.ts";
import { standingOf } from "../loop/standing-of.ts";
import { outline } from "../loop/outline.ts";
import type { Standing } from "../loop/state.ts";
import type { Journal } from "../work/host.ts";
import { runRecordsOf } from "../work/run-records.ts";
import type { RunRecords } from "../work/run-records.ts";
import { decodeLoop, encodeLoop } from "./loop-checkpoint.ts";

export interface JournalOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Called once for each fact, in order, after the fact is in `state` and `standing`. */
  readonly onFact: (fact: Fact) => void;
  /** How many calls the detection of repeats looks at, see `callsToRemember`. */
  readonly remember?: number | undefined;
  /** The bytes of items in a checkpoint, as in `follow`. */
  readonly snapshotBytes?: number | undefined;
}

type SessionRead = Awaited<ReturnType<typeof readSession>>;

/** Facts after which a new checkpoint is worth its writing. */
const checkpointEvery = 256;

/**
 * One session in this process: the state, the standing and the context that follow from its facts, taken
 * in order and without gaps. Each session host has one; the driver and all views read it.
 *
 * Facts come from the store alone: as answers to writes of this process, or by reading. An announcement
 * from the log only has a number up to which to read, so a forged one costs one read and changes
 * nothing. A fact that arrives before its predecessor is not kept; it is read later with the others.
 *
 * Facts are not kept. Opening reads the newest checkpoint and the facts after it, so it costs what was
 * stored since. `keepCheckpoint` writes the next one.
 */
export class SessionJournal implements Journal {
  readonly #options: JournalOptions;
  #paged: PagedState;
  #standing: Standing;
  #context: Context;
  #runs: RunRecords;
  /** The head of the newest checkpoint that this process knows of. */
  #keptHead: number;
  #keeping: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  /** The read after the current one, shared by all calls of `catchUp` during the current one. */
  #nextRead: Promise<void> | undefined;
  /** The highest number announced since `#followHints` last began to read. */
  #hinted = 0;
  #followingHints = false;
  readonly #announcing = new Set<Promise<void>>();

  private constructor(options: JournalOptions, read: SessionRead) {
    const { remember } = options;
    const { paged, facts, checkpoint } = read;
    const kept = checkpoint && decodeLoop(checkpoint, remember);
    this.#options = options;
    this.#keptHead = checkpoint?.paged.state.head ?? 0;
    if (checkpoint === undefined || kept === undefined) {
      this.#paged = paged;
      this.#standing = standingOf(facts, remember);
      this.#context = contextOf(paged.state, facts);
      this.#runs = runRecordsOf(facts);
      return;
    }
    this.#paged = checkpoint.paged;
    ({ standing: this.#standing, context: this.#context, runs: this.#runs } = kept);
    for (const fact of facts) if (fact.n > this.#keptHead) this.#apply(fact);
  }

  /**
   * Reads the session from the store: by its newest checkpoint and the facts after it, or by all facts. A
   * checkpoint of another version of the loop is as none.
   */
  static async open(options: JournalOptions): Promise<SessionJournal> {
    const { store, uid, sessionId, remember } = options;
    const read = await readSession({ store, uid, sessionId });
    const { checkpoint } = read;
    if (checkpoint === undefined || decodeLoop(checkpoint, remember) !== undefined)
      return new SessionJournal(options, read);
    const whole = await readSession({ store: { read: store.read }, uid, sessionId });
    return new SessionJournal(options, whole);
  }

  get state(): SessionState {
    return this.#paged.state;
  }

  /** The state with the numbers of its facts, for a reader that starts from it. */
  get paged(): PagedState {
    return this.#paged;
  }

  get standing(): Standing {
    return this.#standing;
  }

  get runs(): RunRecords {
    return this.#runs;
  }

  get context(): Context {
    return this.#context;
  }

  /**
   * Keeps a checkpoint if enough facts came since the last one. Called by the driver's process when a run
   * has ended. It never rejects, and one is written at a time: a checkpoint that can't be kept is tried
   * again after the next run.
   */
  keepCheckpoint(): void {
    const { store, uid } = this.#options;
    const { head } = this.state;
    if (store.keepCheckpoint === undefined || this.#keeping !== undefined) return;
    if (head - this.#keptHead < checkpointEvery) return;
    this.#keeping = store
      .keepCheckpoint(uid, this.checkpoint())
      .then(() => void (this.#keptHead = head))
      .catch(() => undefined)
      .finally(() => (this.#keeping = undefined));
  }

  /** A checkpoint of the session as this process has it. */
  checkpoint(): Checkpoint {
    const { remember, snapshotBytes } = this.#options;
    const content = { paged: this.#paged, ...encodeLoop(this, remember) };
    return encodeCheckpoint(content, snapshotBytes);
  }

  /** Resolves when no checkpoint is being written. Awaited before a session is closed. */
  async checkpointKept(): Promise<void> {
    await this.#keeping;
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
    for (const fact of facts)
      if (fact.n === this.state.head + 1 && !isReset(fact)) this.#take(fact);
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
    if (n > this.state.head && !this.#followingHints) void this.#followHints();
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
      while (this.#hinted > this.state.head) {
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
    const facts = await store.read(uid, { after: this.state.head });
    for (const fact of facts) {
      if (fact.n !== this.state.head + 1) continue;
      if (!isReset(fact)) this.#take(fact);
      else this.#restart(await store.read(uid, { before: fact.n + 1 }), fact);
    }
  }

  #take(fact: Fact): void {
    this.#apply(fact);
    this.#options.onFact(fact);
  }

  #apply(fact: Fact): void {
    const before = this.state;
    this.#paged = applyPaged(this.#paged, fact).paged;
    this.#standing = advance(this.#standing, outline(fact), this.#options.remember);
    this.#context = contextAfter(this.#context, fact, before, this.state);
    this.#runs.take(fact);
  }

  /** A reset undoes earlier facts, so everything is computed again from all of them. */
  #restart(facts: readonly Fact[], reset: Fact): void {
    const { uid, sessionId, onFact, remember } = this.#options;
    if (reset.n !== this.state.head + 1) return; // taken meanwhile
    this.#paged = replayPaged(emptyState(uid, sessionId), facts);
    this.#standing = standingOf(facts, remember);
    this.#context = contextOf(this.state, facts);
    this.#keptHead = 0;
    this.#runs = runRecordsOf(facts);
    onFact(reset);
  }
}

function isReset(fact: Fact): boolean {
  return fact.type === "session_claimed" && fact.to !== undefined;
}
