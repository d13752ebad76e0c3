import { sign } from "node:crypto";
import { isJsonObject, parseJson } from "@millrace/core/json";
import { systemClock } from "@millrace/core/model";
import type { Clock } from "@millrace/core/ports";
import { AuthFailure } from "./auth-failure.ts";
import { failure } from "./failure.ts";
import type { ServerAnswer } from "./transport/ask.ts";
import { excerpt } from "./transport/redact.ts";
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

/** Reads the answer of a token server. A failure of it fails the request, and may be tried again where that helps. */
export function readLease({ status, body, header }: ServerAnswer): Lease {
  if (status < 200 || status >= 300) {
    const { message, ...cause } = statusFailure(status, body, { header });
    throw new AuthFailure({ ...cause, message: `no token for Google Cloud: ${message}` });
  }
  const parsed = parseJson(body);
  const { access_token: token, expires_in: seconds } = (
    parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  ) as { readonly access_token?: unknown; readonly expires_in?: unknown };
  if (typeof token === "string" && token !== "" && typeof seconds === "number") {
    return { token, validMs: seconds * 1_000 };
  }
  const message = `the token server's answer has no access_token: ${excerpt(body, 200)}`;
  throw new AuthFailure(failure("protocol", message));
}

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
