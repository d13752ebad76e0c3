import type { Cause } from "@millrace/core";

/** One HTTP request for a stream. Always a POST. */
export interface Exchange {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What comes back, in this order. One of `ended` and `failed` comes last, unless it is aborted. */
export interface ExchangeEvents {
  /** The connection stands; the request is being written. */
  readonly connected: () => void;
  readonly responded: (response: ResponseHead) => void;
  /** The bytes are the callee's only until it returns. */
  readonly received: (bytes: Uint8Array) => void;
  readonly ended: () => void;
  readonly failed: (cause: Cause) => void;
}

/** What is known of a response before its body. */
export interface ResponseHead {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** True when the body comes without its content encoding: `fetch` undoes that by itself. */
  readonly decoded: boolean;
}

/**
 * Sends a request and reports what comes. Callbacks, not a web stream: a stream costs more per chunk
 * than everything that we do with it. Once the signal is aborted nothing is reported any more, and
 * the socket is given up.
 */
export type Send = (exchange: Exchange, events: ExchangeEvents, signal: AbortSignal) => void;
