import type { Cause } from "@millrace/core";

/** One HTTP request for a stream. Always a POST. */
export interface Exchange {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The events of a response, in this order. The last is `ended` or `failed`, unless it is aborted.
 */
export interface ExchangeEvents {
  /** The connection is established, and the request is being written. */
  readonly connected: () => void;
  readonly responded: (response: ResponseHead) => void;
  /** The bytes are valid only until the callback returns. */
  readonly received: (bytes: Uint8Array) => void;
  readonly ended: () => void;
  readonly failed: (cause: Cause) => void;
}

/** What is known of a response before its body. */
export interface ResponseHead {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** True if the content encoding is already decoded, as `fetch` does. */
  readonly decoded: boolean;
}

/**
 * Sends a request and reports the response. Callbacks, not a web stream: a stream costs more per
 * chunk than all processing of it. After the signal aborts nothing is reported, and the socket is
 * closed.
 */
export type Send = (exchange: Exchange, events: ExchangeEvents, signal: AbortSignal) => void;
