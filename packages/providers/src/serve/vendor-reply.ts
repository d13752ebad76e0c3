import type { Cuts } from "./cuts.ts";

/** What a vendor server answers: HTTP, or bytes that go to the socket as they are. */
export type VendorReply = HttpReply | RawReply;

/** A head and a body, sent as chunked encoding unless `headers` or `end` say otherwise. */
export interface HttpReply extends Pacing {
  readonly status?: number | undefined;
  /** `content-type` is `text/event-stream`, or JSON for a status from 400, if it is not given. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly body: Uint8Array | string;
  readonly raw?: undefined;
  /** Before the status line is sent. `Infinity`: it never is. */
  readonly headersDelayMs?: number | undefined;
  readonly end?: ReplyEnding | undefined;
}

/** Bytes for the socket: bad status lines, doubled headers, anything that HTTP does not allow. */
export interface RawReply extends Pacing {
  readonly raw: Uint8Array | string;
  readonly end?: Extract<ReplyEnding, "fin" | "reset" | "stay_open"> | undefined;
}

/** How the bytes of a reply are cut and timed. */
export interface Pacing {
  /** Where the bytes are cut into writes. What is written at once may still arrive joined. */
  readonly chunks?: Cuts | undefined;
  /** Before each piece. A list is for the pieces in order; those behind its end don't wait. */
  readonly delayMs?: number | readonly number[] | undefined;
  /** How often the bytes are sent in a row. `Infinity`: until the client leaves. */
  readonly repeat?: number | undefined;
  /** How many requests of a script this reply answers; 1 if it is not given. */
  readonly times?: number | undefined;
}

/**
 * How a reply ends.
 * - `whole` (HTTP only, and what is done if nothing is said): as HTTP wants it, and the connection
 *   can be used again.
 * - `fin`: the body has no length and no encoding; the end of the connection is its end. For raw
 *   bytes: the connection is closed.
 * - `reset`: the connection is reset behind the last byte.
 * - `stay_open`: nothing more comes, and nothing is closed.
 * - `half_chunk`: chunked encoding, closed without its last chunk.
 * - `short`: `content-length` is one more than the body, then the connection is closed.
 */
export type ReplyEnding = "whole" | "fin" | "reset" | "stay_open" | "half_chunk" | "short";

/** One request that a vendor server got. */
export interface VendorRequest {
  /** The first one is 1. */
  readonly number: number;
  /** The number of the connection that it came on; the first one is 1. */
  readonly connection: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
  /** The body if it is JSON. */
  readonly json: unknown;
  /** How the reply ended, once it has. */
  readonly outcome: ReplyOutcome | undefined;
  /** Resolves when the reply has ended, whoever ended it. */
  readonly ended: Promise<ReplyOutcome>;
}

/** How a reply of a vendor server ended. */
export interface ReplyOutcome {
  /** Who closed first. A reply that was sent as its script says ended by the server. */
  readonly by: "server" | "client";
  /** Since the request was read. */
  readonly afterMs: number;
  /** Bytes of the body, or raw bytes, that were handed to the system by then. */
  readonly sentBytes: number;
}

/** Replies in order, or a function that is asked for each. */
export type VendorScript =
  | readonly VendorReply[]
  | ((request: VendorRequest) => VendorReply | Promise<VendorReply>);

/** Walks a script. What can't be answered is a 400, so that no client tries again. */
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
