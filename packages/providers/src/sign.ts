import type { Cause } from "@millrace/core";
import { rememberCredential, rememberHeaders, rememberUrl } from "@millrace/core/secrets";
import { AuthFailure } from "./auth-failure.ts";
import { failure } from "./failure.ts";
import type { Exchange } from "./transport/exchange.ts";
import { headerFault } from "./transport/headers.ts";

/**
 * Returns the headers that authenticate a request, or a message for the user that describes how to
 * configure them. Called for each request, so that keys may change.
 */
export type Auth = (
  exchange: Exchange,
) => Proof | SignedProof | string | Promise<Proof | SignedProof | string>;
type Proof = Readonly<Record<string, string>>;

/**
 * Headers that prove a request and hold no secret, as signatures do. Without `secrets` each header
 * counts as one.
 */
export interface SignedProof {
  readonly headers: Proof;
  /** What was signed with, by a name for messages. It is kept out of every message and log line. */
  readonly secrets: Proof;
}

/** The exchange with the headers that authenticate it, or why there are none. */
export async function sign(exchange: Exchange, auth: Auth): Promise<Exchange | Cause> {
  try {
    const proof = await auth(exchange);
    if (typeof proof === "string") return failure("missing_key", proof);
    const signed = isSigned(proof) ? proof : { headers: proof, secrets: {} };
    rememberUrl(exchange.url);
    rememberHeaders(exchange.url, exchange.headers, isSigned(proof) ? {} : proof);
    for (const [name, value] of Object.entries(signed.secrets)) rememberCredential(name, value);
    const headers = { ...exchange.headers, ...signed.headers };
    const fault = headerFault(headers);
    return fault === undefined ? { ...exchange, headers } : failure("bad_request", fault);
  } catch (error) {
    if (error instanceof AuthFailure) return error.failure;
    const message = error instanceof Error ? error.message : "something";
    return failure("hook_failed", `auth threw: ${message}`);
  }
}

/** A header may be named `headers`, but its value is a text. */
function isSigned(proof: Proof | SignedProof): proof is SignedProof {
  return typeof proof["headers"] === "object";
}
