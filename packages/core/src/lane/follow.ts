import { apply } from "../event/apply.ts";
import type { Applied } from "../event/apply.ts";
import type { Batch, LanePosition } from "../event/batch.ts";
import { cursorOf } from "../event/cursor.ts";
import type { Cursor } from "../event/cursor.ts";
import type { Fact } from "../event/event.ts";
import { restateLane } from "../event/lane.ts";
import { replay } from "../event/reduce.ts";
import { snapshot } from "../event/snapshot.ts";
import type { Snapshot } from "../event/snapshot.ts";
import { emptyState, findLane } from "../event/state.ts";
import type { OpenLane, SessionState } from "../event/state.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import { createChannel } from "../iterate/channel.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { SessionStore } from "../ports/session-store.ts";

export interface FollowOptions {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** Where the reader is. Left out, of another uid, or not to be trusted: it gets a snapshot. */
  readonly cursor?: Cursor | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How often the head is read from the store, in case an announcement was lost. */
  readonly pollMs?: number | undefined;
}

/** What waits for a slow reader. Older messages go, and it sees a gap, which is then filled. */
const waitingMessages = 10_000;

/** One thing for a reader to take, and where it is then. */
export interface Followed {
  readonly message: Fact | Batch | Snapshot;
  readonly cursor: Cursor;
}

/**
 * Reads a session from a position on, without end: every fact and token once and in order, whatever
 * is lost on the way. It subscribes before it reads, so nothing falls between; a gap is filled from
 * the store or the log, or by the lane's writer, or answered with a snapshot. Never with silence. It
 * throws when the subscription breaks: its reader follows anew, from its last cursor.
 */
export async function* follow(options: FollowOptions): AsyncGenerator<Followed, void, undefined> {
  const { log, uid, signal } = options;
  const done = new AbortController();
  const leave = (): void => done.abort();
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  try {
    log.setKey?.(uid, await options.store.key(uid));
    const tail = await log.tail(uid, { signal: done.signal });
    // Who writes may have been gathering for longer, since nobody watched.
    log.nudge(uid, { kind: "wake" }).catch(() => undefined);
    const { reader, welcome } = await Reader.join(options);
    yield* welcome;
    for await (const message of withTicks(tail, options, done)) yield* reader.take(message);
  } finally {
    signal?.removeEventListener("abort", leave);
    leave();
  }
}

/** Holds the state that its reader has, and fills what is missing between it and what comes in. */
class Reader {
  readonly #options: FollowOptions;
  readonly #askedAt = new Map<number, number>();
  /** Lanes whose writer was asked and has not been heard since. */
  readonly #unanswered = new Set<number>();
  #state: SessionState;

  private constructor(options: FollowOptions, state: SessionState) {
    this.#options = options;
    this.#state = state;
  }

  /** Facts first, then the lanes that the floors name. */
  static async join(
    options: FollowOptions,
  ): Promise<{ reader: Reader; welcome: readonly Followed[] }> {
    const { store, uid, sessionId, cursor } = options;
    const facts = await store.read(uid);
    const reader = new Reader(options, replay(emptyState(uid, sessionId), facts));
    const joined: Fact[] = [];
    for (const { lane, epoch } of await store.floors(uid)) {
      for await (const { message } of reader.#readLane(lane, epoch))
        if ("n" in message) joined.push(message);
      if (findLane(reader.#state, lane) === undefined) await reader.#ask(lane);
    }
    return { reader, welcome: welcome(reader.#state, [...facts, ...joined], cursor) };
  }

  async *take(message: Fact | Batch | "tick"): AsyncGenerator<Followed, void, undefined> {
    const { store, uid } = this.#options;
    if (message === "tick") {
      if ((await store.head(uid)) > this.#state.head) yield* this.#readFacts();
      if (this.#unanswered.size > 0) yield* this.#askAgain();
      return;
    }
    const applied = this.#advance(message);
    if (applied.verdict === "applied") yield { message, cursor: cursorOf(this.#state) };
    if (applied.verdict !== "gap") return;
    if (applied.missing !== "lane") yield* this.#readFacts();
    if ("n" in message) return;
    if (apply(this.#state, message).verdict === "gap")
      yield* this.#readLane(message.lane, message.epoch);
    const again = this.#advance(message);
    if (again.verdict === "applied") yield { message, cursor: cursorOf(this.#state) };
    if (again.verdict === "gap") await this.#ask(message.lane);
  }

  async *#readFacts(): AsyncGenerator<Followed, void, undefined> {
    const { store, uid, sessionId } = this.#options;
    for (const fact of await store.read(uid, { after: this.#state.head })) {
      const applied = this.#advance(fact);
      if (applied.verdict === "applied") yield { message: fact, cursor: cursorOf(this.#state) };
      if (applied.verdict !== "gap") continue;
      // A reset undid what this reader holds.
      this.#state = replay(emptyState(uid, sessionId), await store.read(uid));
      yield { message: snapshot(this.#state), cursor: cursorOf(this.#state) };
    }
  }

  /** Batches below the floor are a zombie's, which a log that lost its fence may hold. */
  async *#readLane(lane: number, floor = 0): AsyncGenerator<Followed, void, undefined> {
    const { log, uid } = this.#options;
    for (const batch of await log.read(uid, lane, findLane(this.#state, lane))) {
      if (batch.epoch < floor) continue;
      if (batch.head > this.#state.head) yield* this.#readFacts();
      const applied = this.#advance(batch);
      if (applied.verdict === "applied") yield { message: batch, cursor: cursorOf(this.#state) };
    }
  }

  /** Who was asked may not have heard it, and may have nothing more to say for long. */
  async *#askAgain(): AsyncGenerator<Followed, void, undefined> {
    const { store, uid } = this.#options;
    const unanswered = new Set(this.#unanswered);
    this.#unanswered.clear();
    for (const { lane, epoch } of await store.floors(uid)) {
      const before = findLane(this.#state, lane);
      yield* this.#readLane(lane, epoch);
      const now = findLane(this.#state, lane);
      const silent = now === before && unanswered.has(lane);
      if (now === undefined || silent) await this.#ask(lane);
    }
  }

  #advance(message: Fact | Batch): Applied {
    const applied = apply(this.#state, message);
    this.#state = applied.state;
    if (applied.verdict === "applied" && "last" in message) this.#unanswered.delete(message.lane);
    return applied;
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

/** What brings a reader from its cursor to this state: what it lacks if that can be told, else all. */
function welcome(
  state: SessionState,
  facts: readonly Fact[],
  cursor: Cursor | undefined,
): readonly Followed[] {
  const here = cursorOf(state);
  const everything = [{ message: snapshot(state), cursor: here }];
  if (cursor === undefined || cursor.uid !== state.uid || cursor.head > state.head)
    return everything;
  const lacking = facts.slice(cursor.head);
  const undone = lacking.some((fact) => fact.type === "session_claimed" && fact.to !== undefined);
  if (undone || facts.length !== state.head) return everything;
  const told: Followed[] = lacking.map((fact) => ({
    message: fact,
    cursor: { ...cursor, head: fact.n },
  }));
  // Each cursor says only what has been told by then: the reader may be cut off after any of these.
  let lanes = cursor.lanes.filter(
    (position) => findLane(state, position.lane)?.epoch === position.epoch,
  );
  for (const { lane, epoch, seq } of here.lanes) {
    const mine = lanes.find((position) => position.lane === lane);
    if (mine !== undefined && mine.seq >= seq) continue;
    lanes = [...lanes.filter((position) => position.lane !== lane), { lane, epoch, seq }].toSorted(
      byLane,
    );
    told.push({
      message: restateLane(findLane(state, lane) as OpenLane, state),
      cursor: { ...here, lanes },
    });
  }
  return told;
}

function byLane(left: LanePosition, right: LanePosition): number {
  return left.lane - right.lane;
}

/** The tail, with a tick now and then so that a lost announcement is noticed. */
async function* withTicks(
  tail: AsyncIterable<Fact | Batch>,
  { clock, pollMs = 5_000 }: FollowOptions,
  done: AbortController,
): AsyncGenerator<Fact | Batch | "tick", void, undefined> {
  const merged = createChannel<Fact | Batch | "tick">(waitingMessages);
  const pump = async (): Promise<void> => {
    try {
      for await (const message of tail) merged.push(message);
    } finally {
      merged.end();
    }
  };
  const tick = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await clock.sleep(pollMs, done.signal);
      merged.push("tick");
    }
  };
  // A subscription that breaks is the reader's to hear of: it joins anew, from its cursor.
  const working = Promise.all([pump(), tick()]);
  const broken = working.then(undefined, (error: unknown) => ({ error }));
  try {
    yield* merged;
  } finally {
    done.abort();
  }
  const outcome = await broken;
  if (outcome !== undefined && "error" in outcome) throw outcome.error;
}
