import type { Cause, JsonObject } from "@millrace/core";

/** Cuts a vendor's bytes into events. Pure but for its own buffer: no clock, no socket. */
export interface Framing<Event> {
  /** As sent in `accept` and demanded of `content-type`. */
  readonly mediaType: string;
  readonly open: () => Framer<Event>;
}

/** Cuts bytes into events. Holds what is not complete yet. */
export interface Framer<Event> {
  /** Takes bytes as they come, cut anywhere. */
  readonly feed: (bytes: Uint8Array) => readonly Framed<Event>[];
  /** The bytes are over. Gives what was complete but for its end. */
  readonly end: () => readonly Framed<Event>[];
}

/** What a framer makes of bytes. */
export type Framed<Event> =
  | { readonly kind: "event"; readonly event: Event }
  /** Something came that is not an event, such as a comment: the vendor is alive. */
  | { readonly kind: "alive" }
  /** One event could not be read. The next ones can be. */
  | { readonly kind: "bad_event"; readonly cause: Cause }
  /** Bytes that are not UTF-8 became U+FFFD. Said once. */
  | { readonly kind: "lossy" }
  /** The bytes can't be cut any further. */
  | { readonly kind: "fault"; readonly cause: Cause };

/** One event of a vendor that sends JSON in server-sent events. */
export interface VendorEvent {
  /** The `event:` field; empty if there was none. */
  readonly name: string;
  /** The event's JSON; nothing for the sentinel `[DONE]`. */
  readonly data: JsonObject | undefined;
}
