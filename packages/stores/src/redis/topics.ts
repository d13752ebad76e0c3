import { setTimeout as sleep } from "node:timers/promises";
import { createChannel } from "@millrace/core/store-kit";
import type { Channel } from "@millrace/core/store-kit";
import type { Client, Link } from "./link.ts";
import type { CachedSession, SessionCache } from "./session-cache.ts";
import { Near } from "./near.ts";
import type { Sort } from "./seal.ts";
import type { Shards } from "./shards.ts";
import { slotOf } from "./slot.ts";

export interface TopicsOptions<T> {
  readonly shards: Shards;
  readonly sessions: SessionCache;
  /** Turns the unsealed texts of one channel into values. */
  readonly receiver: (emit: (value: T) => void) => (text: string) => void;
  /** How many values may wait for one reader. */
  readonly capacity: number;
  /**
   * True: a subscription outlives its connection and goes on with the next one. False: it throws when
   * the connection breaks, so that its reader subscribes again and reads what it may have missed.
   */
  readonly lasting: boolean;
}

interface Topic<T> {
  readonly channel: string;
  readonly slot: number;
  readonly near: Near<T>;
  readonly listen: (text: string) => void;
  /** The connection that it is subscribed on, or is being subscribed on. */
  link: Link | undefined;
  /** Resolves once Redis has confirmed the subscription. */
  subscribed: Promise<Client> | undefined;
}

/** A channel of a session, and the sort of its texts. */
export interface Source {
  readonly channel: string;
  readonly sort: Sort;
}

/** The longest pause between two tries to connect. It is tried only while there is a subscriber. */
const longestPauseMs = 1_000;

/**
 * The subscriptions of this process to one kind of channel: one SSUBSCRIBE for each channel, for any
 * number of local subscribers. A link calls `up` when it has connected and `down` when it has failed.
 */
export class Topics<T> {
  readonly #options: TopicsOptions<T>;
  readonly #topics = new Map<string, Topic<T>>();
  #reopening = false;
  #closed = false;

  constructor(options: TopicsOptions<T>) {
    this.#options = options;
  }

  /** Resolves once Redis has confirmed all subscriptions. Every message from then on is received. */
  async join(
    session: CachedSession,
    sources: readonly Source[],
    signal: AbortSignal | undefined,
  ): Promise<AsyncIterable<T>> {
    const { sessions, capacity, lasting } = this.#options;
    const topics = sources.map((source) => this.#topicOf(session, source));
    const release = sessions.keep(session);
    const tap: Channel<T> = createChannel(capacity, () => {
      release();
      signal?.removeEventListener("abort", tap.end);
      for (const topic of topics) this.#leave(topic, tap);
    });
    for (const { near } of topics) near.taps.add(tap);
    if (signal?.aborted === true) {
      tap.end();
      return tap;
    }
    signal?.addEventListener("abort", tap.end, { once: true });
    try {
      await Promise.all(topics.map((topic) => this.#subscribe(topic)));
    } catch (error) {
      // A lasting one is tried again, see `#subscribe`.
      if (!lasting || this.#closed) {
        tap.end();
        throw error;
      }
    }
    return tap;
  }

  /** The subscribers of this process to a channel, if it has any. */
  near(channel: string): Near<T> | undefined {
    return this.#topics.get(channel)?.near;
  }

  /** Ends all local subscribers of a channel. */
  end(channel: string): void {
    for (const tap of this.#topics.get(channel)?.near.taps ?? []) tap.end();
  }

  /** A connection was made: subscribes every channel that has no subscription. */
  up(): void {
    for (const topic of this.#topics.values()) {
      if (topic.subscribed === undefined) this.#subscribe(topic).catch(() => undefined);
    }
  }

  /** A connection failed, or its subscriptions are void. */
  down(link: Link, cause: Error): void {
    const topics = [...this.#topics.values()].filter((topic) => topic.link === link);
    for (const topic of topics) {
      topic.link = undefined;
      topic.subscribed = undefined;
    }
    if (this.#closed) return;
    if (this.#options.lasting) {
      void this.#reopen();
      return;
    }
    const broken = new Error("the subscription to Redis broke: join anew", { cause });
    for (const { near } of topics) for (const tap of near.taps) tap.fail(broken);
  }

  close(): void {
    this.#closed = true;
    for (const channel of this.#topics.keys()) this.end(channel);
  }

  #topicOf({ seal }: CachedSession, { channel, sort }: Source): Topic<T> {
    const known = this.#topics.get(channel);
    if (known !== undefined) return known;
    const near = new Near<T>();
    const receive = this.#options.receiver((value) => near.push(value));
    const listen = (text: string): void => {
      if (near.takeExpected(text)) return;
      const opened = seal.open(sort, text);
      if (opened !== undefined) receive(opened);
      else if (seal.isRemoval(text)) for (const tap of near.taps) tap.end();
    };
    const slot = slotOf(channel);
    const topic = { channel, slot, near, listen, link: undefined, subscribed: undefined };
    this.#topics.set(channel, topic);
    return topic;
  }

  #subscribe(topic: Topic<T>): Promise<Client> {
    if (topic.subscribed !== undefined) return topic.subscribed;
    const subscribed = this.#sendSubscribe(topic);
    topic.subscribed = subscribed;
    subscribed.catch((error: unknown) => {
      this.#options.shards.noteFailure(error);
      if (topic.subscribed !== subscribed) return;
      topic.subscribed = undefined;
      if (this.#options.lasting) void this.#reopen();
    });
    return subscribed;
  }

  async #sendSubscribe(topic: Topic<T>): Promise<Client> {
    const { shards } = this.#options;
    const shard = shards.known(topic.slot) ?? (await shards.find(topic.slot));
    const link = shard.subscriptions;
    topic.link = link;
    const client = link.client ?? (await link.open());
    await client.sSubscribe(topic.channel, topic.listen);
    return client;
  }

  #leave(topic: Topic<T>, tap: Channel<T>): void {
    topic.near.taps.delete(tap);
    if (topic.near.taps.size > 0 || this.#topics.get(topic.channel) !== topic) return;
    this.#topics.delete(topic.channel);
    void this.#unsubscribe(topic);
  }

  async #unsubscribe({ channel, listen, subscribed }: Topic<T>): Promise<void> {
    try {
      const client = await subscribed;
      // A closed connection has no subscriptions left.
      if (client?.isReady === true) await client.sUnsubscribe(channel, listen);
    } catch {
      return; // it was never confirmed, or the connection broke
    }
  }

  /** Retries with a growing pause until every topic is subscribed, or none is left. */
  async #reopen(): Promise<void> {
    if (this.#reopening) return;
    this.#reopening = true;
    for (let pauseMs = 50; !this.#closed; pauseMs *= 2) {
      await Promise.allSettled([...this.#topics.values()].map((topic) => this.#subscribe(topic)));
      // One that was subscribed may have lost its connection while another was still waited for.
      if ([...this.#topics.values()].every(({ subscribed }) => subscribed !== undefined)) break;
      await sleep(Math.min(pauseMs, longestPauseMs), undefined, { ref: false });
    }
    this.#reopening = false;
  }
}
