import { MillraceError } from "@millrace/core";
import { decodeMessage, parseJsonText } from "@millrace/core/wire";
import type { Fact } from "@millrace/core";
import { refusePlainTransport } from "@millrace/core/checks";
import type { Batch, EventLog } from "@millrace/core/ports";
import type { Nudge, WindowBounds } from "@millrace/core/store-kit";
import type { RedisClientOptions } from "@redis/client";
import { checkedUrl, transportTo, urlOf } from "./address.ts";
import { checkRedisOptions } from "./check-options.ts";
import { Cluster } from "./cluster.ts";
import { Announcements } from "./announcements.ts";
import { createGate } from "./gate.ts";
import { SessionCache } from "./session-cache.ts";
import { Lanes } from "./lanes.ts";
import { Link } from "./link.ts";
import { singleShard } from "./shards.ts";
import type { Shard } from "./shards.ts";
import { Topics } from "./topics.ts";
import type { Source } from "./topics.ts";

/** Where Redis is, and the bounds of the log in it. */
export interface RedisLogOptions {
  /** `redis://` or `rediss://`. Left out, it is REDIS_URL, or else a Redis on this machine. */
  readonly url?: string | undefined;
  /**
   * Addresses of some nodes of a Redis Cluster, in place of `url`. The others are found through them,
   * and have the same credentials. Each node with slots has its two connections.
   */
  readonly cluster?: readonly string[] | undefined;
  /** Further settings of the client library, such as certificates. Those that the log relies on are its own. */
  readonly client?: RedisClientOptions | undefined;
  /**
   * Whether Redis may be reached without encryption at an address that is not this machine's. `false` by
   * default: `redis://` to another host throws `invalid_definition`.
   */
  readonly allowPlain?: boolean | undefined;
  /** Begins all keys and channels. Without braces. */
  readonly prefix?: string | undefined;
  /**
   * How long a lane stays after its last batch, if its item is never announced. The writer of an open
   * lane appends at least every 15 s. Once the item is announced, the lane stays 10 minutes at most.
   */
  readonly retentionMs?: number | undefined;
  /** The batches that a lane keeps, roughly. Older ones go, and a reader that needs them sees a gap. */
  readonly batchesPerLane?: number | undefined;
  /** The announcements that wait for a slow reader. Older ones go: it sees a gap. */
  readonly announcements?: number | undefined;
  /** How long Redis may leave a ping unanswered before its connection is closed. It is pinged twice in that time. */
  readonly timeoutMs?: number | undefined;
  /** How many calls may wait for a connection. Further ones are rejected at once. */
  readonly waiting?: number | undefined;
  /**
   * How long the lanes of this process gather deltas for a reader. Left out: 8 ms to 50 ms by the load, and
   * from 0 on for a reader in this process. A lower `mostMs` bounds the latency under load, equal bounds are a fixed window; wider ones cost less.
   */
  readonly window?: WindowBounds | undefined;
}

/** An EventLog with connections, which its owner closes. */
export interface RedisLog extends EventLog, AsyncDisposable {
  readonly setKey: NonNullable<EventLog["setKey"]>;
  /** Ends all subscriptions, rejects what waits, and closes all connections. */
  readonly close: () => Promise<void>;
}

/**
 * The EventLog of many processes, on Redis 7.0 or later, or Valkey. It has two connections, or two to
 * each node of a cluster, whatever the number of sessions and readers, and opens them when they are
 * needed. While Redis is away calls reject, nudges are lost, and tails throw, so that their readers
 * subscribe again. Of the facts of a session that could not be announced, the last is announced when
 * Redis is back.
 *
 * Any program with a connection to that Redis can write there, so every text is sealed under the key
 * of its session: set it first, by `setKey`. A text without the seal is dropped as if it was lost.
 */
export function redisLog(options: RedisLogOptions = {}): RedisLog {
  checkRedisOptions(options, redisLog);
  const { client: settings = {}, cluster } = options;
  const { prefix = "millrace:", retentionMs = 3_600_000, batchesPerLane = 10_000 } = options;
  const { announcements: capacity = 10_000, timeoutMs = 3_000, waiting = 10_000 } = options;

  if (/[{}]/.test(prefix)) {
    const why = "a brace would take the place of the hash tag, which keeps a session on one node";
    throw new MillraceError("invalid_definition", `the prefix ${prefix} has a brace: ${why}`);
  }
  for (const seed of cluster ?? []) refusePlainTransport(transportTo(seed, options));
  const connection = { settings, timeoutMs, waiting };
  const shardAt = (url: string | undefined): Shard => {
    refusePlainTransport(transportTo(url, options));
    const subscriptions: Link = new Link({
      ...connection,
      url,
      onUp: () => {
        heads.up();
        nudges.up();
      },
      onDown: (cause) => {
        tails.down(subscriptions, cause);
        heads.down(subscriptions, cause);
        nudges.down(subscriptions, cause);
      },
    });
    return { commands: new Link({ ...connection, url }), subscriptions };
  };
  const shards =
    cluster === undefined
      ? singleShard(shardAt(urlOf(options)))
      : new Cluster(cluster.map(checkedUrl), shardAt);
  const sessions = new SessionCache(prefix);
  const lanes = new Lanes({
    shards,
    sessions,
    retentionSeconds: Math.ceil(retentionMs / 1_000), // as Redis takes it
    batchesPerLane,
    near: (channel) => tails.near(channel),
  });
  const announcements = new Announcements({
    publish: (session, text) => lanes.publish(session, "facts", text),
  });
  const tails = new Topics<Fact | Batch>({
    shards,
    sessions,
    receiver: receiveMessages,
    capacity,
    lasting: false,
  });
  // A slow reader needs only the last number, which is the highest. It polls for what it missed.
  const heads = new Topics<number>({
    shards,
    sessions,
    receiver: receiveHeads,
    capacity: 1,
    lasting: false,
  });
  const nudges = new Topics<Nudge>({
    shards,
    sessions,
    receiver: (emit) => (text) => {
      const nudge = decodeNudge(text);
      if (nudge !== undefined) emit(nudge);
    },
    capacity,
    // A lane's writer subscribes once in its life, and nudges may be lost.
    lasting: true,
  });
  const close = async (): Promise<void> => {
    announcements.close();
    tails.close();
    heads.close();
    nudges.close();
    shards.close();
  };
  const parts = { sessions, lanes, announcements, tails, heads, nudges };
  const { window } = options;
  const bounds = window === undefined ? {} : { window };
  return { ...bounds, ...callsOf(parts), close, [Symbol.asyncDispose]: close };
}

/** The parts that a log's calls use. */
interface Parts {
  readonly sessions: SessionCache;
  readonly lanes: Lanes;
  readonly announcements: Announcements;
  readonly tails: Topics<Fact | Batch>;
  readonly heads: Topics<number>;
  readonly nudges: Topics<Nudge>;
}

/** The calls of a log. Each but `remove` needs the session's key, and throws without it. */
function callsOf(parts: Parts): Omit<RedisLog, "close" | typeof Symbol.asyncDispose> {
  const { sessions, lanes, announcements, tails, heads, nudges } = parts;
  return {
    setKey: (uid, key) => sessions.setKey(uid, key),
    append: (uid, batch) => lanes.append(uid, batch),
    read: (uid, lane, after) => lanes.read(uid, lane, after),
    announce: async (uid, fact) => {
      const session = sessions.of(uid);
      if ("item" in fact && fact.lane !== undefined) lanes.settle(session, fact.lane);
      await announcements.announce(session, fact);
    },
    tail: async (uid, { signal } = {}) => {
      const session = sessions.of(uid);
      const { tail: batches, facts } = session.keys;
      const sources: readonly Source[] = [
        { channel: batches, sort: "batch" },
        { channel: facts, sort: "fact" },
      ];
      return tails.join(session, sources, signal);
    },
    heads: async (uid, { signal } = {}) => {
      const session = sessions.of(uid);
      return heads.join(session, [{ channel: session.keys.facts, sort: "fact" }], signal);
    },
    nudge: async (uid, nudge) => {
      const session = sessions.of(uid);
      const text = session.seal.seal("nudge", encodeNudge(nudge));
      return lossy(lanes.publish(session, "nudges", text));
    },
    nudges: async (uid, { signal } = {}) => {
      const session = sessions.of(uid);
      return nudges.join(session, [{ channel: session.keys.nudges, sort: "nudge" }], signal);
    },
    remove: async (uid) => {
      const { facts, nudges: towardsWriters } = sessions.keysOf(uid);
      announcements.drop(uid);
      await lanes.remove(uid);
      tails.end(facts);
      heads.end(facts);
      nudges.end(towardsWriters);
    },
  };
}

/** Drops what can't be decoded, as if it was lost. */
function receiveMessages(emit: (message: Fact | Batch) => void): (text: string) => void {
  const isNews = createGate();
  return (text) => {
    const decoded = decodeMessage(text);
    if (!decoded.ok || "closedLanes" in decoded.value) return;
    if ("n" in decoded.value || isNews(decoded.value)) emit(decoded.value);
  };
}

/** Emits rising numbers only: the last one then stands for all before it. */
function receiveHeads(emit: (head: number) => void): (text: string) => void {
  let highest = 0;
  return (text) => {
    const decoded = decodeMessage(text);
    if (!decoded.ok || !("n" in decoded.value)) return;
    highest = Math.max(highest, decoded.value.n);
    emit(highest);
  };
}

/** A nudge may be lost, so a failure to publish one is no error for its caller. */
async function lossy(sent: Promise<number>): Promise<number | undefined> {
  return await sent.catch(() => undefined);
}

/** One nudge as JSON. */
function encodeNudge(nudge: Nudge): string {
  return JSON.stringify(nudge);
}

/** Reads what `encodeNudge` wrote. Undefined for anything else: a nudge may be lost. */
function decodeNudge(text: string): Nudge | undefined {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, lane } = value as Readonly<Record<string, unknown>>; // any object has any key
  if (kind === "wake" || kind === "abort") return { kind };
  return kind === "reseed" && isCount(lane) ? { kind, lane } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
