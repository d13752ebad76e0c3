import type { SessionState } from "@millrace/core";
import type { Followed } from "@millrace/core/reading";
import type { Ended } from "./lines.ts";

/**
 * How the messages of a session become the bytes of a delivery. The hub depends on nothing else of a format:
 * neither what a message looks like nor over which protocol its bytes travel.
 */
export interface Encoding {
  /** Deliveries of a room whose encodings have one name share what is made of a message. */
  readonly name: string;
  /** What the deliveries of one room share. Made for the first of them, dropped after the last. */
  readonly share: () => SharedEncoder;
  /** The last bytes of a stream that ends for this reason. Left out: a `stream_ended` message. */
  readonly ended?: (end: Ended) => Uint8Array;
}

/** An encoding in one room, with its caches. */
export interface SharedEncoder {
  /**
   * The room applied a message to this state, and no viewer has it yet. Called for each message while a
   * delivery of this encoding is attached: the state before it is at hand only now. Without a state a
   * viewer may hold other lanes than the room. Returns how many bytes the message has for a viewer.
   */
  readonly applied: (before: SessionState | undefined, followed: Followed) => number;
  /** What encodes for one delivery. An encoding that holds no state per viewer gives all the same one. */
  readonly open: () => Encoder;
}

/** An encoding for one delivery. */
export interface Encoder {
  /**
   * The bytes of messages that follow what the delivery was sent. `inStep`: they are from the room's ring,
   * and the viewer's state before the first of them is the room's. The bytes are shared: never changed.
   * Viewers in the same place are mostly given the same array, and then the same bytes.
   */
  readonly encode: (messages: readonly Followed[], inStep: boolean) => Uint8Array;
  /**
   * Set by an encoder with a state of its own, which is opened for one delivery: whether nothing follows
   * for its reader after what was encoded last. The delivery then ends with `finished`. What such an
   * encoder encodes is always sent, and never shared; it may be empty.
   */
  readonly isOver?: (() => boolean) | undefined;
}
