import type { Cause } from "@millrace/core";
import { failure } from "../failure.ts";
import type { FailureCode } from "../failure.ts";

const codeOfErrno: Readonly<Record<string, FailureCode>> = {
  EAI_AGAIN: "connection_refused",
  ECONNREFUSED: "connection_refused",
  EHOSTUNREACH: "connection_refused",
  ENETUNREACH: "connection_refused",
  ENOTFOUND: "connection_refused",
  ETIMEDOUT: "connect_timeout",
  UND_ERR_CONNECT_TIMEOUT: "connect_timeout",
  UND_ERR_HEADERS_OVERFLOW: "protocol",
};

/** Refused by this host before anything was sent: an argument or a certificate. No repetition helps. */
const refusedHere: Readonly<Record<string, FailureCode>> = {
  UND_ERR_INVALID_ARG: "bad_request",
  ERR_INVALID_CHAR: "bad_request",
  ERR_INVALID_HTTP_TOKEN: "bad_request",
  CERT_HAS_EXPIRED: "protocol",
  CERT_NOT_YET_VALID: "protocol",
  DEPTH_ZERO_SELF_SIGNED_CERT: "protocol",
  ERR_TLS_CERT_ALTNAME_INVALID: "protocol",
  SELF_SIGNED_CERT_IN_CHAIN: "protocol",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "protocol",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "protocol",
};

/**
 * The cause for an error of a socket or an HTTP client. `reading`: the response had begun. An end
 * that is orderly for TCP and too early for HTTP is a truncation; any other break is a reset.
 */
export function networkFailure(error: unknown, reading: boolean): Cause {
  const { code, message, name } = innermost(error);
  const known = codeOfErrno[code];
  if (known !== undefined) return failure(known, `no connection: ${message}`, { error: code });
  const refused = refusedHere[code];
  if (refused !== undefined) {
    return failure(refused, `the request can't be sent: ${message}`, { error: code });
  }
  if (name === "HTTPParserError" && !endedEarly.has(code)) {
    return failure("protocol", `the vendor does not speak HTTP: ${message}`, { error: code });
  }
  if (reading && (endedEarly.has(code) || message === "terminated")) {
    const text = `the body ended before its own framing said so: ${message}`;
    return failure("truncated_transport", text, { error: code });
  }
  return failure("connection_reset", `the connection broke: ${message}`, { error: code });
}

const endedEarly: ReadonlySet<string> = new Set([
  "UND_ERR_SOCKET",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "HPE_INVALID_EOF_STATE",
]);

/** The innermost error: clients wrap the one with the most detail. */
function innermost(error: unknown): {
  readonly code: string;
  readonly message: string;
  readonly name: string;
} {
  let current = error;
  while (current instanceof Error && current.cause instanceof Error) current = current.cause;
  if (!(current instanceof Error)) return { code: "", message: String(current), name: "" };
  const code = "code" in current && typeof current.code === "string" ? current.code : "";
  return { code, message: current.message, name: current.name };
}
