import type { Encoding } from "../encoding/encoding.ts";
import { endedLines, heartbeatLines, openingLines, retryLines } from "../encoding/lines.ts";
import type { Ended } from "../encoding/lines.ts";
import { streamEndReason } from "../encoding/stream-end.ts";
import type { Delivery, DeliveryEnd, Outlet } from "./delivery.ts";
import type { DeliveredEnd } from "./options.ts";
import type { Sink, SinkEvents } from "./sink.ts";
import type { Streams } from "./streams.ts";

/**
 * Called once, when a stream has ended; with a rejection if it failed. A promise's `resolve` itself, since
 * two closures for each stream would cost more than the stream.
 */
type Resolve = (end: DeliveredEnd | Promise<never>) => void;

/**
 * One open stream: a sink, and the session that is delivered to it. It opens the sink, keeps it alive,
 * and ends it with the reason. It has no timer of its own: `Streams` ticks it.
 */
export class Stream implements SinkEvents, Outlet {
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

  get isFull(): boolean {
    return this.#phase === "full" || this.#phase === "over";
  }

  get isOver(): boolean {
    return this.#phase === "over";
  }

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

  /** A sink that throws ends its stream and no other. Without a closure: it is called for each event and viewer. */
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

  /** Ends the stream, and tells its reader why if there is a reason to tell. Later calls do nothing. */
  finish(end: DeliveryEnd): void {
    if (this.isOver) return;
    const { reason } = end;
    // A reader that was told nothing yet is told this: any other answer would end an EventSource for good.
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
