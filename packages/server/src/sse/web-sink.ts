import { systemClock } from "@millrace/core/ports";
import type { Clock } from "@millrace/core/ports";
import type { Sink, SinkEvents } from "../hub/options.ts";

/** How much a web stream holds. */
export interface WebSinkOptions {
  /** The bytes that may wait in the stream before it counts as full. 64 KiB if left out. */
  readonly bufferBytes?: number | undefined;
  /** A reader that takes nothing for so long while bytes wait is given up. 60 s if left out. */
  readonly stallMs?: number | undefined;
  /** `systemClock` if left out. */
  readonly clock?: Clock | undefined;
}

/** A sink whose bytes are read from a web stream. */
export interface WebSink extends Sink {
  /** The body of a response. Cancelling it ends the delivery. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /**
   * Resolves when the first bytes are there: the answer is a stream. If the delivery rejects before, it
   * can still be an error.
   */
  readonly opened: Promise<void>;
}

/**
 * A sink for `new Response(sink.stream, { headers: eventStreamHeaders })`. Readers pull: while none does, at
 * most the buffer and one write wait. Each reader gets its own copy of the bytes, since a stream's chunks
 * may be transferred or changed by their reader.
 */
export function webSink(options: WebSinkOptions = {}): WebSink {
  return new WebStreamSink(options);
}

class WebStreamSink implements WebSink {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly opened: Promise<void>;
  readonly #stallMs: number;
  readonly #open: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #events: SinkEvents | undefined;
  #full = false;
  #over = false;
  readonly #clock: Clock;
  #stopStall: (() => void) | undefined;

  constructor({ bufferBytes = 65_536, stallMs = 60_000, clock = systemClock }: WebSinkOptions) {
    this.#clock = clock;
    this.#stallMs = stallMs;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.opened = promise;
    this.#open = resolve;
    const strategy = {
      highWaterMark: bufferBytes,
      size: (bytes: Uint8Array | undefined) => bytes?.byteLength ?? 0,
    };
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>) => {
        this.#controller = controller;
      },
      pull: () => this.#pulled(),
      cancel: () => this.#gone(),
    };
    this.stream = new ReadableStream<Uint8Array<ArrayBuffer>>(source, strategy);
  }

  bind(events: SinkEvents): void {
    this.#events = events;
    if (this.#over) queueMicrotask(() => events.gone());
  }

  open(): void {
    this.#open();
  }

  write(bytes: Uint8Array): boolean {
    this.#controller?.enqueue(new Uint8Array(bytes));
    this.#full = (this.#controller?.desiredSize ?? 0) <= 0;
    if (this.#full) this.#watch();
    return !this.#full;
  }

  end(last?: Uint8Array): void {
    if (this.#over) return;
    this.#over = true;
    if (last !== undefined) this.#controller?.enqueue(new Uint8Array(last));
    this.#controller?.close();
    this.#stopStall?.();
  }

  #pulled(): void {
    // Also called when the stream is made, and while there is still room.
    if (!this.#full || (this.#controller?.desiredSize ?? 0) <= 0) return;
    this.#full = false;
    this.#stopStall?.();
    this.#events?.drained();
  }

  #gone(): void {
    this.#over = true;
    this.#stopStall?.();
    this.#events?.gone();
  }

  #watch(): void {
    this.#stopStall?.();
    const stalled = (): void => {
      this.#controller?.error(new Error(`the reader took nothing for ${this.#stallMs} ms`));
      this.#gone();
    };
    this.#stopStall = this.#clock.after(this.#stallMs, stalled, { idle: true });
  }
}
