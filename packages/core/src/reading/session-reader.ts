import { apply } from "../event/apply.ts";
import type { Applied } from "../event/apply.ts";
import { isAfter } from "../event/batch.ts";
import type { Batch } from "../event/batch.ts";
import { cursorOf } from "../event/cursor.ts";
import type { Epoch } from "../event/epoch.ts";
import type { Fact } from "../event/event.ts";
import { emptyState, findLane } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { EpochSeq, EventLog } from "../ports/event-log.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { readAfter, readSession } from "./checkpoint.ts";
import type { FactsAfter } from "./checkpoint.ts";
import { applyPaged, newestItems, newPagedState } from "./paged-state.ts";
import type { PagedState } from "./paged-state.ts";
import type { Followed } from "./catch-up.ts";

/** A session, and the ports that it is read by. */
export interface SessionSource {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
}

/** The session that is read, and callbacks for what was applied. */
export interface SessionReaderOptions extends SessionSource {
  /** A fact or batch was applied; the cursor is the position after it. Must not throw. */
  readonly onMessage: (followed: Followed) => void;
  /**
   * The state was rebuilt: by the first `subscribe`, and after an operator's reset. The facts are the last
   * ones, without a gap up to the head. Later messages apply to the new state only. Must not throw.
   */
  readonly onReset: (facts: readonly Fact[]) => void;
  /** The session as its caller has read it already, so that the first `subscribe` reads only what follows. */
  readonly start?: PagedState | undefined;
  /** Facts that `onReset` is to be given besides those that the state needs. */
  readonly factsAfter?: FactsAfter | undefined;
}

/** A first subscription that takes longer is not waited for: a poll then joins from the store alone. */
const joinWithinMs = 2_000;
/** A lane is requested from its writer at most this often: every later batch would request it again. */
const requestEveryMs = 1_000;
/** Lanes requested at a time. Forged batches may name any lane; a further one waits for the next poll. */
const requestedLanesAtMost = 1_024;

/**
 * One reader of one session: it holds the folded state, and fills the gap between that and what the
 * subscription brings: from the store, then from the log, then by a request to the lane's writer. A
 * message that comes too early is not kept: a gap is filled by reading. Reads run one after the other.
 * `take` may apply a message between them, which is safe: what was read is applied too, and after a
 * reset nothing fits the old state but batches that the reset has made void.
 */
export class SessionReader {
  readonly #options: SessionReaderOptions;
  /** When each lane was requested in the last second, the oldest first. */
  readonly #requestedAt = new Map<number, number>();
  /** Lanes that were requested and of which no batch was applied since. */
  readonly #unanswered = new Set<number>();
  #paged: PagedState;
  /** The answer to the last call of `newest`. */
  #newest: { of: SessionState; bytes: number; state: SessionState } | undefined;
  #joined = false;
  /** When the subscription that is being made was begun. */
  #subscribingSince: number | undefined;
  /** The reads of all new facts that have begun, and the number of the last one that has ended. */
  #reads = { begun: 0, ended: 0 };
  #lastWork: Promise<void> = Promise.resolve();

  constructor(options: SessionReaderOptions) {
    this.#options = options;
    this.#paged = newPagedState(emptyState(options.uid, options.sessionId));
  }

  /** The folded state. Empty until the reader has joined. */
  get state(): SessionState {
    return this.#paged.state;
  }

  /** The same with the newest items within so many bytes, as a viewer that joins is sent it. */
  newest(bytes: number): SessionState {
    const { state } = this.#paged;
    if (this.#newest?.of !== state || this.#newest.bytes !== bytes)
      this.#newest = { of: state, bytes, state: newestItems(this.#paged, bytes).state };
    return this.#newest.state;
  }

  /** True once the facts were read: by `subscribe`, or by `poll` while the log is away. */
  get joined(): boolean {
    return this.#joined;
  }

  /** How many reads of the store have begun. */
  get reads(): number {
    return this.#reads.begun;
  }

  /** Whether a read has ended that began after so many: the state is as new as the store was then. */
  hasReadSince(reads: number): boolean {
    return this.#reads.ended > reads;
  }

  /**
   * Subscribes and then reads, so that no message falls between the two. The state is whole when this
   * resolves, and the caller passes each message of the tail to `take`. Called again after the
   * subscription broke, it reads what was missed.
   */
  async subscribe(signal?: AbortSignal): Promise<AsyncIterable<Fact | Batch>> {
    const { store, log, clock, uid } = this.#options;
    this.#subscribingSince = clock.monotonic();
    try {
      log.setKey?.(uid, await store.key(uid));
      const tail = await log.tail(uid, { signal });
      // Writers gather for longer while a session is not watched.
      log.nudge(uid, { kind: "wake" }).catch(() => undefined);
      await this.#inTurn(() => (this.#joined ? this.#rejoin() : this.#join()));
      return tail;
    } finally {
      this.#subscribingSince = undefined;
    }
  }

  /** Applies a message at once if nothing before it is missing; else after that was read, by the promise. */
  take(message: Fact | Batch): Promise<void> | undefined {
    return this.#advance(message).verdict === "gap"
      ? this.#inTurn(() => this.#fillGap(message))
      : undefined;
  }

  /**
   * Reads facts that no announcement has brought, from the store alone. `head` is what the store was just
   * seen to have: if the state has as much, nothing is read. The first join is left to a subscription
   * that was just begun, since that also brings the open lanes. Without `head` it reads in any case.
   */
  poll(head?: number): Promise<void> {
    return this.#inTurn(async () => {
      const lacks = this.#joined ? (head ?? Infinity) > this.state.head : !this.#isJoining();
      if (lacks || head === undefined) await this.#readStore();
    });
  }

  #isJoining(): boolean {
    const since = this.#subscribingSince;
    return since !== undefined && this.#options.clock.monotonic() - since < joinWithinMs;
  }

  /** Reads the open lanes again if a request has no answer: it may be lost, and its writer silent for long. */
  async repeatRequests(): Promise<void> {
    if (this.#unanswered.size > 0) await this.readLanes();
  }

  /** Reads the open lanes, for a cursor that is ahead of the state in one of them. */
  readLanes(): Promise<void> {
    return this.#inTurn(() => this.#readOpenLanes());
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#lastWork.then(work);
    this.#lastWork = done.catch(() => undefined);
    return done;
  }

  /** Facts first, then the lanes that the floors name. */
  async #join(): Promise<void> {
    await this.#readStore();
    await this.#readOpenLanes();
  }

  /**
   * Reads each open lane from its beginning: a log that no longer has what this state holds may have
   * lost more with it, which only the lane's writer has.
   */
  async #rejoin(): Promise<void> {
    const { store, uid } = this.#options;
    await this.#readStore();
    for (const { lane, epoch } of await store.floors(uid)) {
      const last = await this.#readLane(lane, epoch, undefined);
      const known = findLane(this.state, lane);
      const has = last !== undefined && known !== undefined;
      if (!has || isAfter(known, last.epoch, last.last)) await this.#requestLane(lane);
    }
  }

  /** Fills what is missing before a message, and applies it. */
  async #fillGap(message: Fact | Batch): Promise<void> {
    const applied = this.#advance(message);
    if (applied.verdict !== "gap") return;
    if (applied.missing !== "lane") await this.#readFacts();
    if ("n" in message) return;
    const { lane, epoch } = message;
    if (apply(this.state, message).verdict === "gap")
      await this.#readLane(lane, epoch, findLane(this.state, lane));
    if (this.#advance(message).verdict === "gap") await this.#requestLane(lane);
  }

  async #readStore(): Promise<void> {
    this.#reads.begun += 1;
    const read = this.#reads.begun;
    await (this.#joined ? this.#readFacts() : this.#restart());
    this.#joined = true;
    this.#reads.ended = read;
  }

  async #readFacts(): Promise<void> {
    const { store, uid } = this.#options;
    for (const fact of await store.read(uid, { after: this.state.head })) {
      // A gap in what the store answers is a reset, which undid what this state holds.
      if (this.#advance(fact).verdict === "gap") await this.#restart();
    }
  }

  async #restart(): Promise<void> {
    const { start, factsAfter, onReset } = this.#options;
    const read =
      start === undefined || this.#joined
        ? await readSession(this.#options, factsAfter)
        : await readAfter(this.#options, start, factsAfter);
    this.#paged = read.paged;
    onReset(read.facts);
  }

  /** Reads the open lanes. Requests those that the log does not have, and those still unanswered. */
  async #readOpenLanes(): Promise<void> {
    const { store, uid } = this.#options;
    const floors = await store.floors(uid);
    for (const requested of this.#unanswered)
      if (floors.every(({ lane }) => lane !== requested)) this.#unanswered.delete(requested);
    for (const { lane, epoch } of floors) {
      await this.#readLane(lane, epoch, findLane(this.state, lane));
      const known = findLane(this.state, lane) !== undefined;
      if (!known || this.#unanswered.has(lane)) await this.#requestLane(lane);
    }
  }

  /**
   * Applies the log's batches of a lane after a position, and returns the last one. Batches below the
   * floor are skipped: they are of a superseded writer, and a log that lost its fence may hold them.
   * The floor is the store's, or the epoch of a received batch, whose writer superseded those below.
   */
  async #readLane(
    lane: number,
    floor: Epoch,
    after: EpochSeq | undefined,
  ): Promise<Batch | undefined> {
    const { log, uid } = this.#options;
    const batches = await log.read(uid, lane, after);
    for (const batch of batches) {
      if (batch.epoch < floor) continue;
      if (batch.head > this.state.head) await this.#readFacts();
      this.#advance(batch);
    }
    return batches.at(-1);
  }

  #advance(message: Fact | Batch): Applied {
    const { paged, applied } = applyPaged(this.#paged, message);
    if (applied.verdict !== "applied") return applied;
    this.#paged = paged;
    if ("last" in message) this.#unanswered.delete(message.lane);
    this.#options.onMessage({ message, cursor: cursorOf(this.state) });
    return applied;
  }

  /** Requests the whole lane from its writer, as one batch from 0. */
  async #requestLane(lane: number): Promise<void> {
    const { log, uid, clock } = this.#options;
    const now = clock.monotonic();
    for (const [requested, at] of this.#requestedAt) {
      if (now - at < requestEveryMs) break;
      this.#requestedAt.delete(requested);
    }
    if (this.#unanswered.size < requestedLanesAtMost) this.#unanswered.add(lane);
    if (this.#requestedAt.has(lane) || this.#requestedAt.size >= requestedLanesAtMost) return;
    this.#requestedAt.set(lane, now);
    await log.nudge(uid, { kind: "reseed", lane });
  }
}
