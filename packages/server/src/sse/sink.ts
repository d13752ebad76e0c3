import type { Frame } from "./frame.ts";

/**
 * Where the frames of one viewer go: a connection, or whatever else can be full. Its calls come one
 * after the other, and it calls back only after it has returned from them.
 */
export interface Sink {
  /** Called once and first, with whom to tell that there is room again, or that nobody reads any more. */
  readonly bind: (told: SinkEvents) => void;
  /** Called once before the first frame. By then it is settled where the viewer begins. */
  readonly open: () => void;
  /** Takes a frame. False: it is full, and is given nothing more before it has told of having drained. */
  readonly write: (frame: Frame) => boolean;
  /** Called at most once, after `open`: nothing more comes. Not called for one that nobody reads. */
  readonly end: () => void;
}

/** What a sink tells whoever fills it. */
export interface SinkEvents {
  readonly drained: () => void;
  readonly gone: () => void;
}
