import type { Cursor } from "@millrace/core/reading";
import type { Frame } from "../sse/frame.ts";
import type { Sink, SinkEvents } from "../sse/sink.ts";
import type { Attached, Room } from "./room.ts";
import { Viewer } from "./viewer.ts";

/** Messages in one frame at most. It bounds what is on its way to one viewer. */
const messagesAtOnce = 32;

/** How a delivery ended. `error` is set if the room failed or the sink threw. */
export interface DeliveryEnd {
  readonly error?: unknown;
}

/**
 * Writes a room to one sink. The room pushes, so that no promise is made for each message. Nothing is
 * queued for a full sink: its viewer stays where it is, like any slow viewer. A process has thousands
 * of these, so an object holds little.
 */
export class Delivery implements Attached, SinkEvents {
  readonly #room: Room;
  readonly #viewer: Viewer;
  readonly #sink: Sink;
  readonly #onEnd: (end: DeliveryEnd) => void;
  #opened = false;
  #full = false;
  #over = false;
  #removeAbortListener: (() => void) | undefined;

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

  /** Called once. An error of the sink ends the delivery. */
  start(signal: AbortSignal | undefined): void {
    this.#room.attach(this);
    if (signal !== undefined) {
      const stop = (): void => this.stop();
      this.#removeAbortListener = () => signal.removeEventListener("abort", stop);
      signal.addEventListener("abort", stop, { once: true });
    }
    try {
      this.#sink.bind(this);
    } catch (error) {
      this.stop({ error });
    }
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

  /** Keeps the connection alive. A full one is skipped: it has bytes under way. */
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

  /** Ends the delivery and, if it was opened, the sink. */
  stop(end: DeliveryEnd = {}): void {
    if (this.#over) return;
    this.#leave(end);
    if (this.#opened) this.#sink.end();
  }

  #leave(end: DeliveryEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#removeAbortListener?.();
    this.#room.detach(this);
    this.#onEnd(end);
  }

  #fill(): void {
    let messages = this.#viewer.take(messagesAtOnce);
    // Not before `take`: it can throw, and then the sink must be unopened.
    if (!this.#opened) {
      this.#opened = true;
      this.#sink.open();
    }
    while (messages.length > 0) {
      if (!this.#sink.write(this.#room.frameOf(messages))) {
        this.#full = true;
        return;
      }
      messages = this.#viewer.take(messagesAtOnce);
    }
  }
}
