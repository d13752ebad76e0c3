import type { Encoding } from "../encoding/encoding.ts";
import {
  endedLines,
  heartbeatLines,
  openingLines,
  retryLines,
  streamEndReason,
} from "../encoding/lines.ts";
import type { Ended } from "../encoding/lines.ts";
import type { Clock } from "@millrace/core/ports";
import type { Delivery, DeliveryEnd } from "./delivery.ts";
import { usualHeartbeatMs } from "./options.ts";
import type { DeliveredEnd, HubOptions, Sink, SinkEvents } from "./options.ts";

/** How often streams are checked for heartbeats and ends. */
const tickMs = 1_000;
/** How often some streams are ended while a hub drains. */
const drainTickMs = 100;
/** Readers of a small crowd come back within this, and of any crowd within the other. */
const retryRangeMs = { least: 500, most: 30_000 } as const;
/** As soon as that, readers come back after the end of a stream that another node or request goes on with. */
const returnWithinMs = { drain: 2_000, recycled: 200 } as const;

/**
 * Called once, when a stream has ended; with a rejection if it failed. A promise's `resolve` itself, since
 * two closures for each stream would cost more than the stream.
 */
type Resolve = (end: DeliveredEnd | Promise<never>) => void;

/**
 * One open stream: a sink, and the session that is delivered to it. It opens the sink, keeps it alive,
 * and ends it with the reason. It has no timer of its own: `Streams` ticks it.
 */
export class Stream implements SinkEvents {
  protected readonly streams: Streams;
  readonly #sink: Sink;
  readonly #resolve: Resolve;
  readonly #ended: (end: Ended) => Uint8Array;
  readonly #endAt: number;
  #delivery: Delivery | undefined;
  #phase: "bound" | "open" | "full" | "over" = "bound";
  #beatAt: number;
  /** What the reader's time to come back was drawn from. */
  #retryRange = 0;
  #removeAbortListener: (() => void) | undefined;

  constructor(streams: Streams, sink: Sink, resolve: Resolve, encoding?: Encoding) {
    this.streams = streams;
    this.#sink = sink;
    this.#resolve = resolve;
    this.#ended = encoding?.ended ?? endedLines;
    this.#endAt = streams.endOfLife();
    this.#beatAt = streams.now();
  }

  /** Called once. Deliveries are started after it. False: the sink could not be bound, and all is over. */
  bind(signal: AbortSignal | undefined): boolean {
    this.streams.add(this);
    if (signal !== undefined) {
      const stop = (): void => this.finish({ reason: streamEndReason(signal.reason) });
      this.#removeAbortListener = () => signal.removeEventListener("abort", stop);
      signal.addEventListener("abort", stop, { once: true });
    }
    try {
      this.#sink.bind(this);
    } catch (error) {
      this.finish({ error });
    }
    if (this.streams.isDraining) this.finish({ reason: "drain" });
    return !this.isOver;
  }

  /** Delivers a session. A stream of one session has one delivery. */
  begin(delivery: Delivery): void {
    this.#delivery = delivery;
    delivery.start();
  }

  /** Full for all of its deliveries at once. */
  get isFull(): boolean {
    return this.#phase === "full" || this.#phase === "over";
  }

  get isOver(): boolean {
    return this.#phase === "over";
  }

  /** Called before each write; the first call opens the sink. */
  open(head: number | undefined): void {
    if (this.#phase !== "bound") return;
    this.#phase = "open";
    this.#retryRange = this.streams.retryRange;
    try {
      this.#sink.open();
    } catch (error) {
      return this.finish({ error });
    }
    this.write(openingLines(this.streams.within(this.#retryRange), head));
  }

  /**
   * False: full, or over. A sink that throws ends its stream and no other. Without a closure: it is called for
   * each event and viewer.
   */
  write(bytes: Uint8Array): boolean {
    if (this.isOver) return false;
    try {
      if (this.#sink.write(bytes)) return true;
      this.#phase = "full";
    } catch (error) {
      this.finish({ error });
    }
    return false;
  }

  drained(): void {
    if (this.#phase === "full") this.#phase = "open";
    this.pump();
  }

  gone(): void {
    this.#leave({});
  }

  /** The delivery has left its room, and nothing more comes from it. */
  left(_: Delivery, end: DeliveryEnd): void {
    this.finish(end);
  }

  /** Heartbeat, retry and the end of its life. A full sink has bytes under way: it needs no heartbeat. */
  tick(now: number): void {
    if (this.isOver) return;
    if (now >= this.#endAt) return this.finish({ reason: "recycled" });
    if (this.#phase !== "open") return;
    const { retryRange, heartbeatMs } = this.streams;
    if (retryRange >= 2 * this.#retryRange) {
      this.#retryRange = retryRange;
      this.write(retryLines(this.streams.within(retryRange)));
    }
    if (now - this.#beatAt < heartbeatMs) return;
    this.#beatAt = now;
    const head = this.heartbeatHead();
    // Reading the head sends what waits, which may have filled the sink or ended the stream.
    if (!this.isFull) this.write(heartbeatLines(head));
  }

  /** Ends the stream, and sends its reader the reason if there is one. Later calls do nothing. */
  finish(end: DeliveryEnd): void {
    if (this.isOver) return;
    const { reason } = end;
    // A stream sends its first event before it closes: any other answer would end an EventSource for good.
    if (reason !== undefined) this.open(undefined);
    if (this.isOver) return; // the sink could not be opened
    const last =
      reason === undefined
        ? undefined
        : this.#ended({ reason, retryMs: this.streams.retryAfter(reason) });
    const opened = this.#phase !== "bound";
    this.#leave(end);
    if (!opened) return;
    try {
      this.#sink.end(last);
    } catch {
      // The stream is over already, for a reason that was reported.
    }
  }

  /** The head for a heartbeat, if there is one session and the store answers. */
  protected heartbeatHead(): number | undefined {
    return this.#delivery?.room.storeHead;
  }

  /** Writes what waits. */
  protected pump(): void {
    this.#delivery?.pump();
  }

  /** Ends the deliveries. */
  protected leaveRooms(): void {
    this.#delivery?.leave();
  }

  #leave(end: DeliveryEnd): void {
    if (this.isOver) return;
    this.#phase = "over";
    this.#removeAbortListener?.();
    this.streams.delete(this);
    this.leaveRooms();
    this.#resolve("error" in end ? Promise.reject(end.error) : { reason: end.reason });
  }
}

export interface StreamsOptions extends Pick<HubOptions, "heartbeatMs" | "maxMs"> {
  readonly random: () => number;
}

/**
 * All streams of a hub: one timer ticks them, since a timer for each would cost more than the rest
 * of an idle stream. It runs only while there are streams.
 */
export class Streams {
  readonly heartbeatMs: number;
  readonly #clock: Clock;
  /** In [0, 1). */
  readonly #random: () => number;
  /** How long a stream lives on average, and the part of that by which lives differ. */
  readonly #life: { readonly ms: number; readonly spread: number };
  readonly #all = new Set<Stream>();
  readonly #start: number;
  #stop = new AbortController();
  #isTicking = false;
  isDraining = false;

  constructor({ random, heartbeatMs = usualHeartbeatMs, maxMs }: StreamsOptions, clock: Clock) {
    this.#clock = clock;
    this.#random = random;
    this.#life = maxMs === undefined ? { ms: 1_800_000, spread: 0.2 } : { ms: maxMs, spread: 0.1 };
    this.heartbeatMs = heartbeatMs;
    this.#start = clock.monotonic();
  }

  get size(): number {
    return this.#all.size;
  }

  /** Whole milliseconds since the hub began: a stream holds two such times, and small whole numbers cost it nothing. */
  now(): number {
    return Math.round(this.#clock.monotonic() - this.#start);
  }

  add(stream: Stream): void {
    this.#all.add(stream);
    if (!this.#isTicking) void this.#tick();
  }

  delete(stream: Stream): void {
    this.#all.delete(stream);
    if (this.#all.size === 0) this.#stop.abort();
  }

  /**
   * Readers wait for a time of their own up to this before they come back, so that a crowd does not come
   * back at one moment: a thousand of them a second.
   */
  get retryRange(): number {
    return Math.min(retryRangeMs.most, Math.max(retryRangeMs.least, this.#all.size));
  }

  /** When a stream that begins now is to end, so that its reader comes back, perhaps elsewhere. */
  endOfLife(): number {
    const { ms, spread } = this.#life;
    return Math.round(this.now() + ms * (1 + spread * (2 * this.#random() - 1)));
  }

  /** A time within a range. */
  within(rangeMs: number): number {
    return Math.floor(this.#random() * (rangeMs + 1));
  }

  /** How soon the reader comes back, where that is not the time it was sent first. */
  retryAfter(reason: string | undefined): number | undefined {
    return reason === "drain" || reason === "recycled"
      ? this.within(returnWithinMs[reason])
      : undefined;
  }

  /** Ends all streams, spread over a time, and from now on each new one at once. Resolves when none is left. */
  async drain(overMs: number): Promise<void> {
    this.isDraining = true;
    const start = this.now();
    // In random order: readers that came together are not to come back together.
    const left = shuffled([...this.#all], this.#random);
    for (const count = left.length; left.length > 0;) {
      const elapsed = this.now() - start;
      const keep = overMs > 0 ? Math.floor(count * Math.max(0, 1 - elapsed / overMs)) : 0;
      while (left.length > keep) left.pop()?.finish({ reason: "drain" });
      if (left.length > 0) await this.#clock.sleep(Math.min(drainTickMs, overMs));
    }
  }

  /** Ends all streams now. */
  endAll(): void {
    this.isDraining = true;
    for (const stream of this.#all) stream.finish({ reason: "drain" });
  }

  async #tick(): Promise<void> {
    this.#isTicking = true;
    const idle = this.#clock.idle ?? this.#clock.sleep; // an open stream keeps the process alive by its socket
    while (this.#all.size > 0) {
      this.#stop = new AbortController();
      await idle(tickMs, this.#stop.signal);
      const now = this.now();
      for (const stream of this.#all) stream.tick(now);
    }
    this.#isTicking = false;
  }
}

function shuffled<T>(values: T[], random: () => number): T[] {
  for (let at = values.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const value = values[at] as T; // below the length
    values[at] = values[other] as T;
    values[other] = value;
  }
  return values;
}
