import type { Frame } from "./frame.ts";

/**
 * Where the frames of one viewer go: a connection, or anything else that can be full. Its methods are
 * called one after the other. It calls `SinkEvents` only after the method that led to them returned.
 */
export interface Sink {
  /** Called once and first, with the callbacks of the delivery. */
  readonly bind: (events: SinkEvents) => void;
  /** Called once before the first frame. The viewer's position is settled by then. */
  readonly open: () => void;
  /** Takes a frame. False: the sink is full, and gets no frame before it has called `drained`. */
  readonly write: (frame: Frame) => boolean;
  /** Called at most once, after `open`, when no frame follows. Not called after `gone`. */
  readonly end: () => void;
}

/** What a sink reports to the delivery that fills it. */
export interface SinkEvents {
  /** A sink that was full takes frames again. */
  readonly drained: () => void;
  /** The reading side has closed. The delivery ends. */
  readonly gone: () => void;
}
