import type { Cuts } from "./cuts.ts";

/** A reply of a vendor server: HTTP, or raw bytes for the socket. */
export type VendorReply = HttpReply | RawReply;

/** A head and a body, sent in chunked encoding unless `headers` or `end` change that. */
export interface HttpReply extends Pacing {
  readonly status?: number | undefined;
  /** Default `content-type`: `text/event-stream`, or JSON for a status from 400. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly body: Uint8Array | string;
  readonly raw?: undefined;
  /** The delay before the status line. `Infinity` never sends it. */
  readonly headersDelayMs?: number | undefined;
  readonly end?: ReplyEnding | undefined;
}

/**
 * Bytes for the socket: invalid status lines, duplicate headers, anything that HTTP does not allow.
 */
export interface RawReply extends Pacing {
  readonly raw: Uint8Array | string;
  readonly end?: Extract<ReplyEnding, "fin" | "reset" | "stay_open"> | undefined;
}

/** How the bytes of a reply are cut and timed. */
export interface Pacing {
  /** How the bytes are split into writes. The network may still join them. */
  readonly chunks?: Cuts | undefined;
  /** The delay before each piece. A list is for the pieces in order; later ones have no delay. */
  readonly delayMs?: number | readonly number[] | undefined;
  /** How often the bytes are sent in a row. `Infinity` sends until the client disconnects. */
  readonly repeat?: number | undefined;
  /** How many requests this reply answers. Default: 1. */
  readonly times?: number | undefined;
}

/**
 * How a reply ends.
 * - `whole` (HTTP only, the default): by the rules of HTTP; the connection can be reused.
 * - `fin`: the body has no length and no encoding; closing the connection ends it. For raw bytes:
 *   the connection is closed.
 * - `reset`: the connection is reset after the last byte.
 * - `stay_open`: nothing follows, and nothing is closed.
 * - `half_chunk`: chunked encoding, closed without the last chunk.
 * - `short`: `content-length` is one more than the body, then the connection is closed.
 */
export type ReplyEnding = "whole" | "fin" | "reset" | "stay_open" | "half_chunk" | "short";

/** One request that a vendor server received. */
export interface VendorRequest {
  /** Counts from 1. */
  readonly number: number;
  /** The number of its connection, from 1. */
  readonly connection: number;
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** The parsed body, if it is JSON. */
  readonly json: unknown;
  /** How the reply ended, once it has. */
  readonly outcome: ReplyOutcome | undefined;
  /** Resolves when the reply has ended, by either side. */
  readonly ended: Promise<ReplyOutcome>;
}

/** How a reply of a vendor server ended. */
export interface ReplyOutcome {
  /** The side that closed first. `server` if the reply was sent as its script describes. */
  readonly by: "server" | "client";
  /** Milliseconds since the request was read. */
  readonly afterMs: number;
  /** Bytes of the body, or raw bytes, handed to the operating system until then. */
  readonly sentBytes: number;
}

/** Replies in order, or a function that returns the reply for each request. */
export type VendorScript =
  | readonly VendorReply[]
  | ((request: VendorRequest) => VendorReply | Promise<VendorReply>);

/**
 * Returns the reply for each request. A request beyond the script gets a 400, which no client
 * retries.
 */
export function openScript(script: VendorScript): (request: VendorRequest) => Promise<VendorReply> {
  if (typeof script === "function") {
    return async (request) => {
      try {
        return await script(request);
      } catch (error) {
        return refusal(`the function for replies threw: ${String(error)}`);
      }
    };
  }
  const left = script.map((reply) => ({ reply, times: reply.times ?? 1 }));
  let at = 0;
  return (request) => {
    while (at < left.length) {
      const entry = left[at];
      if (entry !== undefined && entry.times > 0) {
        entry.times -= 1;
        return Promise.resolve(entry.reply);
      }
      at += 1;
    }
    return Promise.resolve(refusal(`the script has no reply for request ${request.number}`));
  };
}

function refusal(message: string): HttpReply {
  return { status: 400, body: JSON.stringify({ error: { message, type: "test_script" } }) };
}
