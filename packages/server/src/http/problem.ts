import type { Json } from "@millrace/core";

/** The code of a problem. Closed: a new one is an addition to the public contract. */
export type ProblemCode =
  | "invalid_request"
  | "invalid_key"
  | "token_in_url"
  | "unauthenticated"
  | "forbidden"
  | "origin_refused"
  | "not_found"
  | "method_not_allowed"
  | "not_acceptable"
  | "request_timeout"
  | "session_exists"
  | "settled"
  | "hash_mismatch"
  | "read_only"
  | "locked"
  | "quarantined"
  | "precondition_failed"
  | "too_large"
  | "unsupported_media_type"
  | "range_not_satisfiable"
  | "wrong_host"
  | "key_reused"
  | "unknown_blob"
  | "unknown_item"
  | "digest_mismatch"
  | "rate_limited"
  | "quota_exceeded"
  | "headers_too_large"
  | "internal"
  | "store_unavailable"
  | "overloaded";

/** One row of the list of problems. */
export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Whether the same request, with the same key, may succeed later. */
  readonly retryable?: true;
}

/** Every problem that a route answers. */
export const problemKinds: Readonly<Record<ProblemCode, ProblemKind>> = {
  invalid_request: { status: 400, title: "Invalid request" },
  invalid_key: { status: 400, title: "Invalid idempotency key" },
  token_in_url: { status: 400, title: "Token in the URL" },
  unauthenticated: { status: 401, title: "Not signed in" },
  forbidden: { status: 403, title: "Not allowed" },
  origin_refused: { status: 403, title: "Origin refused" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  not_acceptable: { status: 406, title: "Not acceptable" },
  request_timeout: { status: 408, title: "Request timed out", retryable: true },
  session_exists: { status: 409, title: "Session exists" },
  settled: { status: 409, title: "Already decided" },
  hash_mismatch: { status: 409, title: "Not what was shown" },
  read_only: { status: 409, title: "Read only" },
  locked: { status: 409, title: "Locked by another process", retryable: true },
  quarantined: { status: 409, title: "Stored facts are damaged" },
  precondition_failed: { status: 412, title: "Changed meanwhile" },
  too_large: { status: 413, title: "Too large" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  range_not_satisfiable: { status: 416, title: "Range not satisfiable" },
  wrong_host: { status: 421, title: "Wrong host" },
  key_reused: { status: 422, title: "Key used for something else" },
  unknown_blob: { status: 422, title: "Unknown blob" },
  unknown_item: { status: 422, title: "Unknown item" },
  digest_mismatch: { status: 422, title: "Digest does not match" },
  rate_limited: { status: 429, title: "Too many requests", retryable: true },
  quota_exceeded: { status: 429, title: "Quota exceeded" },
  headers_too_large: { status: 431, title: "Headers too large" },
  internal: { status: 500, title: "Internal error", retryable: true },
  store_unavailable: { status: 503, title: "Store unavailable", retryable: true },
  overloaded: { status: 503, title: "Overloaded", retryable: true },
};

/** What a problem may carry besides its code and sentence. */
export interface ProblemExtra {
  /** Where in the body, as a JSON pointer. */
  readonly pointer?: string | undefined;
  /** Which limit was reached. */
  readonly policy?: string | undefined;
  /** How much is allowed, with `too_large` and where a request asks for more than one may. */
  readonly limit?: number | undefined;
  /** The versions that are supported, with `not_acceptable`. */
  readonly supported?: Json | undefined;
  /** Seconds before a repeat is worth it. Jittered by ± 25 % when it is sent. */
  readonly retryAfter?: number | undefined;
  /** Further headers of the answer, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * A refusal of a request, thrown by any step of its handling. `detail` names the value and the fix:
 * never an id that was not in the request, never a stack.
 */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly extra: ProblemExtra;

  constructor(code: ProblemCode, detail: string, extra: ProblemExtra = {}) {
    super(detail);
    this.code = code;
    this.extra = extra;
  }

  get status(): number {
    return problemKinds[this.code].status;
  }
}

/** The body of a problem, as RFC 9457 writes it. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  readonly retryable: boolean;
  readonly instance: string;
  readonly pointer?: string;
  readonly policy?: string;
  readonly limit?: number;
  readonly supported?: Json;
}

/** The body for a request of this id. */
export function problemBody({ code, message, extra }: Problem, instance: string): ProblemBody {
  const kind = problemKinds[code];
  const { pointer, policy, limit, supported } = extra;
  return {
    type: `urn:millrace:problem:${code}`,
    title: kind.title,
    status: kind.status,
    code,
    detail: message,
    retryable: isRetryable({ code, extra }),
    instance,
    ...(pointer === undefined ? {} : { pointer }),
    ...(policy === undefined ? {} : { policy }),
    ...(limit === undefined ? {} : { limit }),
    ...(supported === undefined ? {} : { supported }),
  };
}

/** Whether the same request may succeed later. */
export function isRetryable({ code, extra }: Pick<Problem, "code" | "extra">): boolean {
  return problemKinds[code].retryable === true || extra.retryAfter !== undefined;
}

/** The one 404. Missing, foreign and removed things answer with the same bytes. */
export function notFound(): Problem {
  return new Problem("not_found", "there is nothing at this address, or nothing you may read");
}
