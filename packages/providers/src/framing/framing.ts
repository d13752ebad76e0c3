import type { Cause, JsonObject } from "@millrace/core";

/**
 * Cuts a vendor's bytes into events. Has no state but its buffer, and uses no clock and no socket.
 */
export interface Framing<Event> {
  /** Sent in `accept` and required in `content-type`. */
  readonly mediaType: string;
  readonly open: () => Framer<Event>;
}

/** Cuts bytes into events. Holds what is not complete yet. */
export interface Framer<Event> {
  /** Reads the next bytes, cut at any place. */
  readonly feed: (bytes: Uint8Array) => readonly Framed<Event>[];
  /**
   * As `feed`, one by one. Preferred if it is there: a list of hundreds of events outlives several
   * collections of garbage, which costs more than the events do.
   */
  readonly feedTo?: (bytes: Uint8Array, take: (framed: Framed<Event>) => void) => void;
  /** Reads the end of the bytes. Returns an event that lacked only its terminator. */
  readonly end: () => readonly Framed<Event>[];
}

/** What a framer makes of bytes. */
export type Framed<Event> =
  | { readonly kind: "event"; readonly event: Event }
  /** Input that is not an event, such as a comment. Proves that the vendor is alive. */
  | { readonly kind: "alive" }
  /** An event that could not be parsed. Later events are still read. */
  | { readonly kind: "bad_event"; readonly cause: Cause }
  /** Bytes that are not UTF-8 were replaced by U+FFFD. Reported once. */
  | { readonly kind: "lossy" }
  /** The bytes can't be framed any further. */
  | { readonly kind: "fault"; readonly cause: Cause };

/** One server-sent event with JSON data. */
export interface VendorEvent {
  /** The `event:` field, or an empty string. */
  readonly name: string;
  /** The parsed data, or undefined for the sentinel `[DONE]`. */
  readonly data: JsonObject | undefined;
}
