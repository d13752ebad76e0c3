import type { JsonObject } from "@millrace/core";

/** An HTTP request as it came over the socket. */
export interface VendorHttpRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** An HTTP response: server-sent events, frames of AWS, or the JSON of an error. */
export interface VendorHttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** A reply in no vendor's format. Its parts are sent in the order of these fields. */
export interface PlainReply {
  /** Thinking with this text; `true` for thinking whose text the vendor withholds. */
  readonly think?: string | true | undefined;
  readonly text?: string | undefined;
  readonly calls?: readonly PlainCall[] | undefined;
  /**
   * Why the reply ends early. Default: it ends with its calls, or because it is complete. Only Claude has
   * pauses; elsewhere such a reply is complete.
   */
  readonly stop?: "length" | "filtered" | "paused" | undefined;
}

/** A call of a tool in a scripted reply. */
export interface PlainCall {
  readonly name: string;
  readonly input: JsonObject;
  /** Default: an id that this vendor has not used before. */
  readonly id?: string | undefined;
}

/** A request that the vendor's rules allow, as the model reads it. */
export interface AcceptedRequest {
  /** Counts the accepted requests, from 1. */
  readonly number: number;
  readonly model: string;
  /** The system prompt, and the instructions appended to it that are still in force. */
  readonly instructions: string;
  /** The text of the last user message, empty if it has results of tools only. */
  readonly lastUserText: string;
  /** True if the request ends with results of tools. */
  readonly answersCalls: boolean;
  /** The tools that are offered at the end of the request. */
  readonly tools: readonly string[];
  /** True if a field of the body asks for JSON, or the instructions contain a JSON Schema. */
  readonly wantsJson: boolean;
  /** True if the request asks the vendor for a summary instead of a reply. */
  readonly wantsSummary: boolean;
  readonly body: JsonObject;
}

/** The account that the vendor serves, and what it bills. */
export interface StrictVendorOptions {
  /** The organisation, project or key that signatures and encrypted content belong to. */
  readonly account?: string | undefined;
  /**
   * Whether Claude's prefix check is enforced for requests that don't ask for it, as it is for accounts
   * made since 2026-08-31. Default: true.
   */
  readonly enforce?: boolean | undefined;
  /** The time in milliseconds. Caches expire by it. */
  readonly now: () => number;
  /** Names of betas that this account has no access to. */
  readonly refuses?: readonly string[] | undefined;
  /** The least number of tokens of a cached prefix. Default: the vendor's. */
  readonly leastCached?: number | undefined;
}

/** Input tokens of all accepted requests. Four characters count as a token. */
export interface CacheBill {
  readonly requests: number;
  /** Neither read from a cache nor written to one. */
  readonly plain: number;
  readonly read: number;
  readonly write: number;
  /** The sum of the three. */
  readonly total: number;
}

/** A block of thinking that was sent and that the model did not read. */
export interface DroppedThinking {
  /** Where it was in the request, such as `messages.1.content.0`. */
  readonly path: string;
  /** The vendor's name for it, or `model_mismatch` where the vendor reports nothing. */
  readonly reason: string;
}

/** A stand-in for a vendor's API that refuses the requests which the vendor's documentation rules out. */
export interface StrictVendor {
  /**
   * Refuses the request by the vendor's rules, or streams the reply in the vendor's format, with
   * signatures, encrypted content and usage. `reply` is called for accepted requests only.
   */
  readonly answer: (
    request: VendorHttpRequest,
    reply: (request: AcceptedRequest) => PlainReply,
  ) => VendorHttpResponse;
  /** The messages of all refusals. */
  readonly refused: readonly string[];
  readonly dropped: readonly DroppedThinking[];
  readonly bill: CacheBill;
}
