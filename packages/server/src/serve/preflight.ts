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
  // What the openai library adds to each request, also in a browser.
  ...["Arch", "Lang", "OS", "Package-Version", "Runtime", "Runtime-Version"].map(ofOpenai),
  ...["Retry-Count", "Timeout", "Helper-Method", "Poll-Helper"].map(ofOpenai),
].join(", ");

function ofOpenai(name: string): string {
  return `X-Stainless-${name}`;
}

/** The answer to OPTIONS. Which origin may read it stands in the common CORS headers. */
export function preflight(verbs: readonly string[]): Answer {
  const allow = verbs.join(", ");
  return {
    status: 204,
    headers: {
      allow,
      "access-control-allow-methods": allow,
      "access-control-allow-headers": allowedHeaders,
      "access-control-max-age": "7200",
    },
  };
}
