/**
 * What the vendor's answer had beside its content. Under an agent it is in the metadata of the item, as
 * `response`.
 */
export interface ModelResponse {
  /** The vendor's id of the request, for its support. */
  readonly requestId?: string;
  /** Where it was served, if the vendor reports it. */
  readonly region?: string;
  /** The organization that is billed, if the vendor reports it. Our providers keep it in `scope` alone. */
  readonly organization?: string;
  /** Where what only the vendor can read of the reply is valid, as a short name without meaning. */
  readonly scope?: string;
  /** What the vendor reported of its limits with this answer. */
  readonly rateLimits?: readonly RateLimit[];
}

/** One limit of a vendor, as it was when the answer began. */
export interface RateLimit {
  readonly of: "requests" | "tokens" | "input_tokens" | "output_tokens";
  /** The window, if the vendor has several. */
  readonly per?: "minute" | "day";
  readonly limit?: number;
  readonly remaining?: number;
  /** When it is whole again, as an ISO time by this host's clock. */
  readonly resetAt?: string;
}
