import { checkBatch, isAfter } from "../event/batch.ts";
import type { Batch } from "../event/batch.ts";
import type { Fact } from "../event/event.ts";
import type { SessionUid } from "../ids.ts";
import { createChannel } from "../iterate/channel.ts";
import type { Channel } from "../iterate/channel.ts";
import type { Clock } from "../ports/clock.ts";
import { lastOfRemoved } from "../ports/event-log.ts";
import { encodedLog } from "./encoded.ts";
import type {
  AppendOutcome,
  EpochSeq,
  EventLog,
  Nudge,
  SubscribeOptions,
  WindowBounds,
} from "../ports/event-log.ts";
import { systemClock } from "./system.ts";

export interface MemoryEventLogOptions {
  /** The batches that a lane keeps. Older ones go, and a reader that needs them sees a gap. */
  readonly batchesPerLane?: number | undefined;
  /** The announcements that wait for a slow reader. Older ones go: it sees a gap. */
  readonly announcements?: number | undefined;
  /** How long lanes gather deltas. Its readers are in the writer's process: left out, 0 to 50 ms. */
  readonly window?: WindowBounds | undefined;
  /** As of `memorySessionStore`: batches and facts are encoded and decoded. */
  readonly encode?: boolean | undefined;
  /** Measures how long a session's lanes were not appended to. */
  readonly clock?: Pick<Clock, "monotonic"> | undefined;
}

/** An EventLog that can lose things on purpose, as a real one does by accident. */
export interface MemoryEventLog extends EventLog {
  /** Drops all batches of a session, or of one lane. The fence goes with them, as in any lost log. */
  readonly lose: (uid: SessionUid, lane?: number) => void;
}

const ownProcess: WindowBounds = { leastMs: 0, mostMs: 50 };

/** Removed sessions whose writers are refused. Those of older ones have ended long since. */
const maxRemoved = 10_000;

/**
 * A session's lanes go so long after the last append, and a tenth of that later at most. Their readers have got them
 * long since; a later one is given what is stored, and a writer that goes on restates its lane.
 */
const keptMs = 300_000;

/** Sessions beyond so many lose theirs sooner, those first that were not appended to for longest. */
const maxTopics = 10_000;

interface Lane {
  last: EpochSeq;
  batches: Batch[];
}

interface Topic {
  readonly lanes: Map<number, Lane>;
  readonly tails: Set<Channel<Fact | Batch>>;
  readonly heads: Set<Channel<number>>;
  readonly nudges: Set<Channel<Nudge>>;
  /** The highest number that was announced. */
  head: number;
  /** When it was last used, to within a tenth of `keptMs`. */
  usedAt: number;
}

function emptyTopic(usedAt: number): Topic {
  const lanes = new Map<number, Lane>();
  return { lanes, tails: new Set(), heads: new Set(), nudges: new Set(), head: 0, usedAt };
}

/**
 * The EventLog of one process, with the full semantics: fenced by epoch, bounded, at most once. It is
 * enough for an application with a single server process.
 */
export function memoryEventLog(options: MemoryEventLogOptions = {}): MemoryEventLog {
  const log = sharingLog(options);
  return options.encode === true ? encodedLog(log) : log;
}

function sharingLog(options: MemoryEventLogOptions): MemoryEventLog {
  const { batchesPerLane = 10_000, announcements = 10_000, window = ownProcess } = options;
  const { clock = systemClock } = options;
  const topics = new Topics();
  const removed = new Set<SessionUid>();
  const topicOf = (uid: SessionUid): Topic => topics.use(uid, clock.monotonic());

  const append = async (uid: SessionUid, batch: Batch): Promise<AppendOutcome> => {
    checkBatch(batch);
    if (removed.has(uid)) return { outcome: "refused", last: lastOfRemoved };
    const topic = topicOf(uid);
    const lane = topic.lanes.get(batch.lane);
    const end = { epoch: batch.epoch, seq: batch.last };
    if (lane === undefined && batch.first > 0) return { outcome: "absent" };
    if (lane !== undefined && !isAfter(end, lane.last.epoch, lane.last.seq)) {
      return { outcome: "refused", last: lane.last };
    }
    const kept = lane === undefined || batch.first === 0 ? [] : lane.batches;
    kept.push(batch);
    if (kept.length > batchesPerLane * 2) kept.splice(0, kept.length - batchesPerLane);
    topic.lanes.set(batch.lane, { last: end, batches: kept });
    for (const tail of topic.tails) tail.push(batch);
    return { outcome: "stored", watched: topic.tails.size > 0 };
  };

  const read = async (
    uid: SessionUid,
    number: number,
    after?: EpochSeq,
  ): Promise<readonly Batch[]> => {
    const held = topics.get(uid)?.lanes.get(number)?.batches.slice(-batchesPerLane) ?? [];
    return held.filter(
      (batch) =>
        after === undefined ||
        isAfter({ epoch: batch.epoch, seq: batch.last }, after.epoch, after.seq),
    );
  };

  const subscribe = <T>(channels: Set<Channel<T>>, signal: AbortSignal | undefined) =>
    openChannel(channels, announcements, signal);

  return {
    window,
    append,
    read,
    announce: async (uid, fact) => {
      const topic = topicOf(uid);
      topic.head = Math.max(topic.head, fact.n);
      for (const tail of topic.tails) tail.push(fact);
      for (const head of topic.heads) head.push(topic.head);
    },
    tail: async (uid, { signal }: SubscribeOptions = {}) => subscribe(topicOf(uid).tails, signal),
    heads: async (uid, { signal }: SubscribeOptions = {}) =>
      openChannel(topicOf(uid).heads, 1, signal),
    nudge: async (uid, nudge) => {
      const { nudges } = topicOf(uid);
      for (const channel of nudges) channel.push(nudge);
      return nudges.size;
    },
    nudges: async (uid, { signal }: SubscribeOptions = {}) =>
      subscribe(topicOf(uid).nudges, signal),
    remove: async (uid) => {
      const topic = topics.get(uid);
      topics.delete(uid);
      removed.add(uid);
      const [oldest] = removed.size > maxRemoved ? removed : [];
      if (oldest !== undefined) removed.delete(oldest);
      if (topic === undefined) return;
      for (const channel of [...topic.tails, ...topic.heads, ...topic.nudges]) channel.end();
    },
    lose: (uid, lane) => {
      if (lane === undefined) topics.get(uid)?.lanes.clear();
      else topics.get(uid)?.lanes.delete(lane);
    },
  };
}

/** The topics in the order of their last use, as far as that is known. */
class Topics {
  readonly #topics = new Map<SessionUid, Topic>();
  #sweepAt = 0;
  #sweepSize = maxTopics;

  get(uid: SessionUid): Topic | undefined {
    return this.#topics.get(uid);
  }

  delete(uid: SessionUid): void {
    this.#topics.delete(uid);
  }

  /** The topic of a session, which is made if it is not there. Costs a look at the clock, and rarely more. */
  use(uid: SessionUid, now: number): Topic {
    const known = this.#topics.get(uid);
    if (known === undefined || now - known.usedAt > keptMs / 10) {
      const topic = known ?? emptyTopic(now);
      this.#put(uid, topic, now);
      // It looks at as many as it drops, and at one more; beyond that size at all, for each tenth that is added.
      if (now > this.#sweepAt || this.#topics.size > this.#sweepSize) this.#sweep(now);
      return topic;
    }
    return known;
  }

  #put(uid: SessionUid, topic: Topic, now: number): void {
    topic.usedAt = now;
    this.#topics.delete(uid);
    this.#topics.set(uid, topic);
  }

  /** A topic that is subscribed to stays, without its old lanes. */
  #sweep(now: number): void {
    for (const [uid, topic] of this.#topics) {
      const isOld = now - topic.usedAt >= keptMs;
      if (!isOld && this.#topics.size <= maxTopics) break;
      if (topic.tails.size + topic.heads.size + topic.nudges.size === 0) this.#topics.delete(uid);
      else if (isOld) {
        topic.lanes.clear();
        this.#put(uid, topic, now);
      }
    }
    this.#sweepAt = now + keptMs / 10;
    this.#sweepSize = Math.max(maxTopics, this.#topics.size * 1.1);
  }
}

function openChannel<T>(
  channels: Set<Channel<T>>,
  capacity: number,
  signal: AbortSignal | undefined,
): AsyncIterable<T> {
  const channel = createChannel<T>(capacity, () => {
    channels.delete(channel);
    signal?.removeEventListener("abort", channel.end);
  });
  channels.add(channel);
  if (signal?.aborted === true) channel.end();
  else signal?.addEventListener("abort", channel.end, { once: true });
  return channel;
}
