import type { Cursor } from "@millrace/core/reading";
import type { Frame } from "../sse/frame.ts";
import type { Sink, SinkEvents } from "../sse/sink.ts";
import type { Attached, Room } from "./room.ts";
import { Viewer } from "./viewer.ts";

/** What goes out as one frame at most. What is on its way to one viewer is bounded by this. */
const messagesAtOnce = 32;

/** How a delivery ended: with what ended the room, or what the sink threw. */
export interface DeliveryEnd {
  readonly error?: unknown;
}

/**
 * Brings a room to one sink, pushed by the room, without a promise for each message. While the sink
 * is full nothing is queued for it: its viewer stays where it is, as any viewer who is slow. There
 * are many of these, so it is small.
 */
export class Delivery implements Attached, SinkEvents {
  readonly #room: Room;
  readonly #viewer: Viewer;
  readonly #sink: Sink;
  readonly #onEnd: (end: DeliveryEnd) => void;
  #opened = false;
  #full = false;
  #over = false;
  #unhear: (() => void) | undefined;

  /** `onEnd` is called once. */
  constructor(
    room: Room,
    cursor: Cursor | undefined,
    sink: Sink,
    onEnd: (end: DeliveryEnd) => void,
  ) {
    this.#room = room;
    this.#viewer = new Viewer(room, cursor, this);
    this.#sink = sink;
    this.#onEnd = onEnd;
  }

  /** What the sink throws at this is the caller's to hear. */
  start(signal: AbortSignal | undefined): void {
    this.#room.attach(this);
    if (signal !== undefined) {
      const stop = (): void => this.stop();
      this.#unhear = () => signal.removeEventListener("abort", stop);
      signal.addEventListener("abort", stop, { once: true });
    }
    this.#sink.bind(this);
    this.pump();
  }

  pump(): void {
    if (this.#over || this.#full) return;
    try {
      if (this.#viewer.ready) this.#fill();
    } catch (error) {
      this.stop({ error });
      return;
    }
    if (this.#room.end !== undefined) this.stop(this.#room.end);
  }

  /** What keeps a connection alive. One that is full has enough to carry. */
  beat(frame: Frame): void {
    if (this.#over || this.#full || !this.#opened) return;
    try {
      this.#full = !this.#sink.write(frame);
    } catch (error) {
      this.stop({ error });
    }
  }

  wake(): void {
    this.pump();
  }

  drained(): void {
    this.#full = false;
    this.pump();
  }

  gone(): void {
    this.#leave({});
  }

  /** Ends it from this side. */
  stop(end: DeliveryEnd = {}): void {
    if (this.#over) return;
    this.#leave(end);
    if (this.#opened) this.#sink.end();
  }

  #leave(end: DeliveryEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#unhear?.();
    this.#room.detach(this);
    this.#onEnd(end);
  }

  #fill(): void {
    let told = this.#viewer.take(messagesAtOnce);
    // Only now it is settled where it begins.
    if (!this.#opened) {
      this.#opened = true;
      this.#sink.open();
    }
    while (told.length > 0) {
      if (!this.#sink.write(this.#room.frameOf(told))) {
        this.#full = true;
        return;
      }
      told = this.#viewer.take(messagesAtOnce);
    }
  }
}
