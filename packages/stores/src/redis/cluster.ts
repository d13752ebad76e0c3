import { setTimeout as sleep } from "node:timers/promises";
import { MillraceError } from "@millrace/core";
import { ErrorReply } from "@redis/client";
import type { Shard, Shards } from "./shards.ts";
import { slotCount } from "./slot.ts";

/** The slot map is read at most once in this time; further reads wait. */
const mapEveryMs = 200;
/** Errors by which a node reports that the slot map is out of date. */
const outdated = /^(?:MOVED|ASK|CLUSTERDOWN|TRYAGAIN|READONLY) /;

/**
 * The shards of a Redis Cluster. The slot map is read from any node when it is first needed, and again
 * when a node reports that a slot has moved, when a slot has no node, or when a node can't be reached.
 * A node gets its two connections when they are needed, and keeps them while it is in the map.
 */
export class Cluster implements Shards {
  readonly #seeds: readonly string[];
  readonly #shardAt: (url: string) => Shard;
  readonly #shards = new Map<string, Shard>();
  #slots: (Shard | undefined)[] = [];
  #reading: Promise<void> | undefined;
  #readAt = -Infinity;
  #closed = false;

  constructor(seeds: readonly string[], shardAt: (url: string) => Shard) {
    this.#seeds = seeds;
    this.#shardAt = shardAt;
  }

  known(slot: number): Shard | undefined {
    return this.#slots[slot];
  }

  async find(slot: number): Promise<Shard> {
    if (this.#slots[slot] === undefined) await this.#read();
    const shard = this.#slots[slot];
    if (shard === undefined) throw new Error(`no node of the cluster has slot ${slot}`);
    return shard;
  }

  /** Reads the map again, unless the node answered with an error that has nothing to do with slots. */
  noteFailure(failure: unknown): void {
    const answered = failure instanceof ErrorReply;
    if (answered && !outdated.test(failure.message)) return;
    this.#read().catch(() => undefined);
  }

  close(): void {
    this.#closed = true;
    for (const shard of this.#shards.values()) closeShard(shard);
  }

  /** One read at a time; calls during it share it. */
  #read(): Promise<void> {
    if (this.#closed) return Promise.reject(new MillraceError("closed", "this log was closed"));
    this.#reading ??= this.#readMap().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Tries the known nodes first: the addresses from the options may be out of date. */
  async #readMap(): Promise<void> {
    await sleep(Math.max(0, this.#readAt + mapEveryMs - performance.now()), undefined, {
      ref: false,
    });
    let failure: unknown;
    for (const url of new Set([...this.#shards.keys(), ...this.#seeds.map(plainUrl)])) {
      const asked = this.#shards.get(url) ?? this.#shardAt(url);
      try {
        const client = await asked.commands.open();
        this.#take(url, asked, rangesOf(await client.sendCommand(["CLUSTER", "SLOTS"]), url));
        this.#readAt = performance.now();
        return;
      } catch (error) {
        failure = error;
        if (!this.#shards.has(url)) closeShard(asked);
      }
    }
    this.#readAt = performance.now();
    throw new Error("no node of the cluster can be reached", { cause: failure });
  }

  #take(askedUrl: string, asked: Shard, ranges: readonly Range[]): void {
    const before = this.#slots;
    const slots: (Shard | undefined)[] = Array.from({ length: slotCount });
    const used = new Set(ranges.map(({ url }) => url));
    if (!this.#shards.has(askedUrl)) {
      if (used.has(askedUrl)) this.#shards.set(askedUrl, asked);
      else closeShard(asked); // it has no slots, or goes by another name
    }
    for (const { from, to, url } of ranges) {
      const shard = this.#shards.get(url) ?? this.#shardAt(url);
      this.#shards.set(url, shard);
      slots.fill(shard, from, to + 1);
    }
    this.#slots = slots;
    const losers = new Set(before.filter((shard, slot) => shard !== slots[slot]));
    for (const [url, shard] of this.#shards) {
      if (losers.has(shard)) loseSubscriptions(shard);
      if (used.has(url)) continue;
      this.#shards.delete(url);
      closeShard(shard);
    }
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
  /** Where the primary is. */
  readonly url: string;
}

/** CLUSTER SLOTS answers with ranges: first and last slot, the primary, its replicas. */
function rangesOf(reply: unknown, asked: string): readonly Range[] {
  type Node = readonly [host: string | null, port: number];
  const ranges = reply as readonly (readonly [number, number, Node])[];
  return ranges.map(([from, to, [host, port]]) => {
    const url = new URL(asked); // credentials and TLS are the same for all nodes
    // A node that does not know its own address has the one that it was reached by.
    if (host !== null && host !== "" && host !== "?") {
      url.hostname = host.includes(":") ? `[${host}]` : host;
    }
    url.port = `${port}`;
    return { from, to, url: url.href };
  });
}

/** The form that `rangesOf` gives, so that one node has one name. */
function plainUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.port === "") parsed.port = "6379";
  return parsed.href;
}

/** Subscriptions to slots that moved away bring no message any more. All of the node's are renewed. */
function loseSubscriptions({ subscriptions }: Shard): void {
  const { client } = subscriptions;
  if (client !== undefined) subscriptions.lose(client, new Error("slots have moved"));
}

function closeShard({ commands, subscriptions }: Shard): void {
  subscriptions.close();
  commands.close();
}
