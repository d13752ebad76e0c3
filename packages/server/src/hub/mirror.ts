import { apply, cursorOf, emptyState, findLane, isAfter, replay } from "@millrace/core";
import type {
  Applied,
  Batch,
  Clock,
  Epoch,
  EpochSeq,
  EventLog,
  Fact,
  SessionId,
  SessionState,
  SessionStore,
  SessionUid,
} from "@millrace/core";
import { Ring } from "./ring.ts";

export interface MirrorOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Called when there is something new to be told. */
  readonly changed: () => void;
  /** How many of the last facts are kept for viewers that come back. */
  readonly keptFacts: number;
  /** How many of the last messages are kept for viewers that are a little behind. */
  readonly keptMessages: number;
}

/**
 * One session as this process knows it: its folded state, its last facts and what was told last. It
 * fills what is missing between the state and what comes in, once for all viewers. Its calls that
 * read are made one after the other. `take` may come between: what was read is applied too, and
 * after a reset nothing fits the old state but batches that the reset has made void.
 */
export class Mirror {
  readonly ring: Ring;
  readonly #options: MirrorOptions;
  readonly #askedAt = new Map<number, number>();
  /** Lanes whose writer was asked and has not been heard since. */
  readonly #unanswered = new Set<number>();
  #state: SessionState;
  #facts: Fact[] = [];

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.ring = new Ring(options.keptMessages);
    this.#state = emptyState(options.uid, options.sessionId);
  }

  get state(): SessionState {
    return this.#state;
  }

  get facts(): readonly Fact[] {
    return this.#facts;
  }

  /** Facts first, then the lanes that the floors name. */
  async join(): Promise<void> {
    await this.#restart();
    await this.#readOpenLanes();
  }

  /** Reads what announcements did not bring, for a viewer who has seen more elsewhere. */
  async catchUp(): Promise<void> {
    await this.#readFacts();
    await this.#readOpenLanes();
  }

  /** The head tells whether an announcement of a fact was lost. Writers that did not answer are asked again. */
  async poll(): Promise<void> {
    const { store, uid } = this.#options;
    if ((await store.head(uid)) > this.#state.head) await this.#readFacts();
    if (this.#unanswered.size === 0) return;
    // Who was asked may not have heard it, and may have nothing more to say for long.
    const unanswered = new Set(this.#unanswered);
    this.#unanswered.clear();
    await this.#readOpenLanes((lane) => unanswered.has(lane));
  }

  /**
   * After the subscription broke: what was said meanwhile. A log that no longer has what this state
   * holds may have lost more with it, which only the writers can tell.
   */
  async rejoin(): Promise<void> {
    const { store, uid } = this.#options;
    await this.#readFacts();
    for (const { lane, epoch } of await store.floors(uid)) {
      const last = await this.#readLane(lane, epoch, undefined);
      const known = findLane(this.#state, lane);
      const has = last !== undefined && known !== undefined;
      if (!has || isAfter(known, last.epoch, last.last)) await this.#ask(lane);
    }
  }

  /** Applies a message. False if something before it is missing: then `heal` fills that. */
  take(message: Fact | Batch): boolean {
    return this.#advance(message).verdict !== "gap";
  }

  /** Fills what is missing before a message: from the store, then the log, then by the lane's writer. */
  async heal(message: Fact | Batch): Promise<void> {
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
      if (this.#advance(fact).verdict !== "gap") continue;
      // A reset undid what this state holds. Everybody is shown the new one.
      await this.#restart();
      this.#options.changed();
    }
  }

  async #restart(): Promise<void> {
    const { store, uid, sessionId, keptFacts } = this.#options;
    const facts = await store.read(uid);
    this.#state = replay(emptyState(uid, sessionId), facts);
    this.#facts = facts.slice(-keptFacts);
    // At once: whatever comes next is said on top of the new state, and to nobody who has the old one.
    this.ring.skip();
  }

  /** Asks for those that can't be read, and for those that `wanted` names if nothing is heard of them. */
  async #readOpenLanes(wanted: (lane: number) => boolean = () => false): Promise<void> {
    const { store, uid } = this.#options;
    for (const { lane, epoch } of await store.floors(uid)) {
      const before = findLane(this.#state, lane);
      await this.#readLane(lane, epoch, before);
      const now = findLane(this.#state, lane);
      if (now === undefined || (now === before && wanted(lane))) await this.#ask(lane);
    }
  }

  /**
   * Batches below the floor are a zombie's, which a log that lost its fence may hold. The floor is the
   * store's, or the epoch of a batch that came: whoever wrote that has superseded those below. Answers
   * with the last batch that the log has behind the position.
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
    if ("n" in message) this.#keep(message);
    else this.#unanswered.delete(message.lane);
    this.ring.push({ message, cursor: cursorOf(this.#state) });
    this.#options.changed();
    return applied;
  }

  #keep(fact: Fact): void {
    const { keptFacts } = this.#options;
    this.#facts.push(fact);
    // Cut in bulk: dropping one at a time would cost O(n) each.
    if (this.#facts.length > keptFacts * 2) this.#facts = this.#facts.slice(-keptFacts);
  }

  /** Asks the lane's writer to say all of it again. At most once a second: every later batch asks too. */
  async #ask(lane: number): Promise<void> {
    const { log, uid, clock } = this.#options;
    this.#unanswered.add(lane);
    if (clock.now() - (this.#askedAt.get(lane) ?? -Infinity) < 1_000) return;
    this.#askedAt.set(lane, clock.now());
    await log.nudge(uid, { kind: "reseed", lane });
  }
}
