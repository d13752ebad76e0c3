import { sign } from "node:crypto";
import type { Cause } from "@millrace/core";
import { isJsonObject, parseJson } from "@millrace/core/json";
import { systemClock } from "@millrace/core/model";
import { rememberCredential } from "@millrace/core/secrets";
import type { Clock } from "@millrace/core/ports";
import { AuthFailure } from "./auth-failure.ts";
import { failure } from "./failure.ts";
import type { ServerAnswer } from "./transport/ask.ts";
import { statusFailure } from "./transport/vendor-error.ts";

/** A token and how long it is valid. */
export interface Lease {
  readonly token: string;
  readonly validMs: number;
}

/** How long before its end a token is renewed, as Google's own libraries do. */
const earlyMs = 5 * 60_000;

/**
 * Keeps a token until shortly before its end. However many requests wait, one asks for the next token. If that
 * fails while the old one is still valid, the old one is used.
 */
export function keepToken(
  load: () => Promise<Lease>,
  clock: Pick<Clock, "monotonic"> = systemClock,
): () => Promise<string> {
  let kept: { readonly token: string; readonly until: number } | undefined;
  let pending: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    try {
      const begun = clock.monotonic();
      const { token, validMs } = await load();
      kept = { token, until: begun + validMs };
      return token;
    } catch (error) {
      if (kept !== undefined && clock.monotonic() < kept.until) return kept.token;
      throw error;
    } finally {
      pending = undefined;
    }
  };
  return async () => {
    if (kept !== undefined && clock.monotonic() < kept.until - earlyMs) return kept.token;
    pending ??= renew();
    return await pending;
  };
}

/**
 * Reads the answer of a token server. A failure of it fails the request, and may be tried again where that helps.
 * Errors are stored and logged, so they have nothing of the body: it may be a token in an unusual form, or repeat what
 * was sent.
 */
export function readLease({ status, body, header }: ServerAnswer): Lease {
  const parsed = parseJson(body);
  const value = (parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}) as {
    readonly [Name in "access_token" | "expires_in" | "error"]?: unknown;
  };
  if (status < 200 || status >= 300) {
    const fix = oauthErrors.get(value.error);
    const name = fix === undefined ? "" : ` ${String(value.error)}: ${fix}`;
    const message = `the token server answered ${status}${name}`;
    throw tokenFailure({ ...statusFailure(status, "", { header }), message });
  }
  const { access_token: token, expires_in: seconds } = value;
  if (typeof token !== "string" || token === "" || typeof seconds !== "number") {
    const lack = typeof token === "string" ? "expires_in in seconds" : "access_token";
    const message = `the token server's answer has no ${lack}: check that token_uri is the address of a token server`;
    throw tokenFailure(failure("protocol", message));
  }
  rememberCredential("an access token for Google Cloud", token);
  return { token, validMs: seconds * 1_000 };
}

/** The failure of a request for which there is no token. */
export function tokenFailure({ message, ...cause }: Cause): AuthFailure {
  return new AuthFailure({ ...cause, message: `no token for Google Cloud: ${message}` });
}

/** The errors of RFC 6749, and what to do. Any other text in their place may be anything. */
const oauthErrors: ReadonlyMap<unknown, string> = new Map([
  ["invalid_request", "check token_uri"],
  ["invalid_client", "check that the account exists"],
  ["invalid_grant", "check that the account and its key exist, and this machine's clock"],
  ["unauthorized_client", "check what the account may do"],
  ["unsupported_grant_type", "check token_uri"],
  ["invalid_scope", "check that the account may use Google Cloud"],
  ["access_denied", "check what the account may do"],
]);

/** The claims of a service account, signed with its key (RFC 7523, RS256). */
export function signedClaims(
  claims: Readonly<Record<string, string | number>>,
  { key, keyId }: { readonly key: string; readonly keyId: string | undefined },
): string {
  const header = { alg: "RS256", typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) };
  const text = [header, claims].map((part) => base64(JSON.stringify(part))).join(".");
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), key).toString("base64url")}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64url");
}
