/**
 * Where the bytes of one stream go: a connection, or anything else that can be full. Its methods are
 * called one after the other. It calls `SinkEvents` only after the method that led to them returned.
 */
export interface Sink {
  /** Called once and first, with the callbacks of the stream. */
  readonly bind: (events: SinkEvents) => void;
  /** Called once before the first bytes. The viewer's position is settled by then. */
  readonly open: () => void;
  /**
   * Takes bytes, which other sinks are given too: they must not be changed. False: the sink is full, and
   * gets nothing before it has called `drained`, but its end.
   */
  readonly write: (bytes: Uint8Array) => boolean;
  /**
   * Called at most once, after `open`, when nothing follows but these last few bytes, which it takes also
   * while it is full. Not called after `gone`.
   */
  readonly end: (last?: Uint8Array) => void;
}

/** What a sink reports to the stream that fills it. */
export interface SinkEvents {
  /** A sink that was full takes bytes again. */
  readonly drained: () => void;
  /** The reading side has closed. The stream ends. */
  readonly gone: () => void;
}
