import { createHash } from "node:crypto";
import type { Sink } from "../hub/options.ts";
import type { Answer } from "../http/answer.ts";

/** A whole answer, ready for a connection. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for HEAD, 204 and 304. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Set if the body is server-sent events. */
  readonly stream?: ReplyStream | undefined;
}

/** A stream that was admitted and not begun. */
export interface ReplyStream {
  /** Resolves when nothing follows. */
  readonly start: (sink: Sink) => Promise<void>;
  /** The answer instead, if it failed before the sink was opened. */
  readonly failed: (error: unknown) => Promise<Reply>;
  /** Called once, when nothing follows. */
  readonly ended: () => void;
}

/** What every answer has. */
export const commonHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  vary: "Origin, Authorization, Cookie",
};

/** Seconds of `Retry-After`, jittered by ± 25 %, so that those who were refused together do not return together. */
export function retryAfter(seconds: number, random: number): string {
  return String(Math.max(1, Math.round(seconds * (0.75 + random / 2))));
}

/** A strong entity tag of these bytes. */
export function etagOf(bytes: Uint8Array): string {
  return `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
}

/** Whether `If-None-Match` names the tag. Weak comparison, as RFC 9110 says for GET. */
export function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const plain = etag.replace(/^W\//, "");
  return header.split(",").some((each) => each.trim().replace(/^W\//, "") === plain);
}

/** The reply, with a call of `release` when its body is written or its client is gone, whichever is first. */
export function releaseAfterBody(reply: Reply, release: () => void, gone: AbortSignal): Reply {
  const { body } = reply;
  if (body === undefined || body instanceof Uint8Array || gone.aborted) {
    release();
    return reply;
  }
  gone.addEventListener("abort", release, { once: true });
  return { ...reply, body: until(body, release) };
}

async function* until(
  body: AsyncIterable<Uint8Array>,
  release: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } finally {
    release();
  }
}

const allowedHeaders = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "Last-Event-ID",
  "Prefer",
  "If-Match",
  "If-None-Match",
  "If-Range",
  "Range",
  "Content-Digest",
  "Millrace-Session",
  "Traceparent",
  "Tracestate",
];

/** The answer to OPTIONS. Which origin may read it stands in the common CORS headers. */
export function preflight(verbs: readonly string[], dialectHeaders: readonly string[]): Answer {
  const allow = verbs.join(", ");
  return {
    status: 204,
    headers: {
      allow,
      "access-control-allow-methods": allow,
      "access-control-allow-headers": [...allowedHeaders, ...dialectHeaders].join(", "),
      "access-control-max-age": "7200",
    },
  };
}
