import { apply } from "../event/apply.ts";
import type { Applied } from "../event/apply.ts";
import { isAfter } from "../event/batch.ts";
import type { Batch } from "../event/batch.ts";
import { cursorOf } from "../event/cursor.ts";
import type { Epoch } from "../event/epoch.ts";
import type { Fact } from "../event/event.ts";
import { replay } from "../event/reduce.ts";
import { emptyState, findLane } from "../event/state.ts";
import type { SessionState } from "../event/state.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { EpochSeq, EventLog } from "../ports/event-log.ts";
import type { SessionStore } from "../ports/session-store.ts";
import type { Followed } from "./welcome.ts";

/** The session that is read, and the ports by which. */
export interface SessionSource {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
}

/** What is read, and what is done with it. */
export interface SessionReaderOptions extends SessionSource {
  /** A fact or batch was applied; the cursor is the position after it. Must not throw. */
  readonly onMessage: (followed: Followed) => void;
  /**
   * The state was rebuilt from all facts: by the first `subscribe`, and after an operator's reset.
   * Later messages apply to the new state only. Must not throw.
   */
  readonly onReset: (facts: readonly Fact[]) => void;
}

/** A lane's writer is asked at most this often, since every later batch of the lane asks again. */
const askEveryMs = 1_000;
/** Lanes that are asked for at a time. Forged batches name any lane; a further one waits for the next poll. */
const askedLanesAtMost = 1_024;

/**
 * One reader of one session: it holds the folded state, and fills what is missing between that and
 * what the subscription brings, from the store, then the log, then by asking the lane's writer.
 * Nothing that comes too early is kept: a gap is answered by reading. Reads run one after the other.
 * `take` may apply a message between them, which is safe: what was read is applied too, and after a
 * reset nothing fits the old state but batches that the reset has made void.
 */
export class SessionReader {
  readonly #options: SessionReaderOptions;
  /** When each lane was asked for in the last second, the oldest first. */
  readonly #askedAt = new Map<number, number>();
  /** Lanes whose writer was asked and from which no batch was applied since. */
  readonly #unanswered = new Set<number>();
  #state: SessionState;
  #joined = false;
  #lastWork: Promise<void> = Promise.resolve();

  constructor(options: SessionReaderOptions) {
    this.#options = options;
    this.#state = emptyState(options.uid, options.sessionId);
  }

  /** The folded state. Empty until the first `subscribe` has resolved. */
  get state(): SessionState {
    return this.#state;
  }

  /**
   * Subscribes, and then reads, so that nothing falls between. The state is whole when this resolves,
   * and each message of the tail is for `take`. After the subscription broke it is called again, and
   * reads what was missed.
   */
  async subscribe(signal?: AbortSignal): Promise<AsyncIterable<Fact | Batch>> {
    const { store, log, uid } = this.#options;
    log.setKey?.(uid, await store.key(uid));
    const tail = await log.tail(uid, { signal });
    // Writers gather for longer while a session is not watched.
    log.nudge(uid, { kind: "wake" }).catch(() => undefined);
    await this.#inTurn(() => (this.#joined ? this.#rejoin() : this.#join()));
    return tail;
  }

  /** Applies a message at once if nothing before it is missing; else after that was read. */
  async take(message: Fact | Batch): Promise<void> {
    if (this.#advance(message).verdict === "gap") await this.#inTurn(() => this.#heal(message));
  }

  /** Compares heads, in case the announcement of a fact was lost, and asks silent writers again. */
  poll(): Promise<void> {
    return this.#inTurn(async () => {
      const { store, uid } = this.#options;
      if ((await store.head(uid)) > this.#state.head) await this.#readFacts();
      // The request may have been lost, and the writer may have nothing to write for long.
      if (this.#unanswered.size > 0) await this.#readOpenLanes();
    });
  }

  /** Reads what announcements did not bring, for a cursor that is ahead of the state. */
  catchUp(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#readFacts();
      await this.#readOpenLanes();
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#lastWork.then(work);
    this.#lastWork = done.catch(() => undefined);
    return done;
  }

  /** Facts first, then the lanes that the floors name. */
  async #join(): Promise<void> {
    await this.#restart();
    await this.#readOpenLanes();
    this.#joined = true;
  }

  /**
   * Reads each open lane from its beginning: a log that no longer has what this state holds may have
   * lost more with it, which only the lane's writer knows.
   */
  async #rejoin(): Promise<void> {
    const { store, uid } = this.#options;
    await this.#readFacts();
    for (const { lane, epoch } of await store.floors(uid)) {
      const last = await this.#readLane(lane, epoch, undefined);
      const known = findLane(this.#state, lane);
      const has = last !== undefined && known !== undefined;
      if (!has || isAfter(known, last.epoch, last.last)) await this.#ask(lane);
    }
  }

  /** Fills what is missing before a message, and applies it. */
  async #heal(message: Fact | Batch): Promise<void> {
    const applied = this.#advance(message);
    if (applied.verdict !== "gap") return;
    if (applied.missing !== "lane") await this.#readFacts();
    if ("n" in message) return;
    const { lane, epoch } = message;
    if (apply(this.#state, message).verdict === "gap")
      await this.#readLane(lane, epoch, findLane(this.#state, lane));
    if (this.#advance(message).verdict === "gap") await this.#ask(lane);
  }

  async #readFacts(): Promise<void> {
    const { store, uid } = this.#options;
    for (const fact of await store.read(uid, { after: this.#state.head })) {
      // A gap in what the store answers is a reset, which undid what this state holds.
      if (this.#advance(fact).verdict === "gap") await this.#restart();
    }
  }

  async #restart(): Promise<void> {
    const { store, uid, sessionId, onReset } = this.#options;
    const facts = await store.read(uid);
    this.#state = replay(emptyState(uid, sessionId), facts);
    onReset(facts);
  }

  /** Asks for lanes that can't be read, and again for those that stay as they are. */
  async #readOpenLanes(): Promise<void> {
    const { store, uid } = this.#options;
    const floors = await store.floors(uid);
    for (const asked of this.#unanswered)
      if (floors.every(({ lane }) => lane !== asked)) this.#unanswered.delete(asked);
    for (const { lane, epoch } of floors) {
      await this.#readLane(lane, epoch, findLane(this.#state, lane));
      const known = findLane(this.#state, lane) !== undefined;
      if (!known || this.#unanswered.has(lane)) await this.#ask(lane);
    }
  }

  /**
   * Skips batches below the floor: they are of a superseded writer, which a log that lost its fence
   * may hold. The floor is the store's, or the epoch of a batch that came, since its writer has
   * superseded those below. Answers with the last batch that the log has after the position.
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
      if (batch.head > this.#state.head) await this.#readFacts();
      this.#advance(batch);
    }
    return batches.at(-1);
  }

  #advance(message: Fact | Batch): Applied {
    const applied = apply(this.#state, message);
    if (applied.verdict !== "applied") return applied;
    this.#state = applied.state;
    if ("last" in message) this.#unanswered.delete(message.lane);
    this.#options.onMessage({ message, cursor: cursorOf(this.#state) });
    return applied;
  }

  /** Asks the lane's writer to write all of the lane again, as one batch from 0. */
  async #ask(lane: number): Promise<void> {
    const { log, uid, clock } = this.#options;
    const now = clock.now();
    for (const [asked, at] of this.#askedAt) {
      if (now - at < askEveryMs) break;
      this.#askedAt.delete(asked);
    }
    if (this.#unanswered.size < askedLanesAtMost) this.#unanswered.add(lane);
    if (this.#askedAt.has(lane) || this.#askedAt.size >= askedLanesAtMost) return;
    this.#askedAt.set(lane, now);
    await log.nudge(uid, { kind: "reseed", lane });
  }
}
