import type { Answer } from "../http/answer.ts";

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
