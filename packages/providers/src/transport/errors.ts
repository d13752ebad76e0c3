import type { Cause } from "@millrace/core";
import { failure } from "../failure.ts";
import type { FailureCode } from "../failure.ts";
import { proxyFailure } from "./proxy-failure.ts";
import { tlsFailure } from "./tls-failure.ts";

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

/** Refused by this host before anything was sent. No repetition helps. */
const refusedHere: Readonly<Record<string, FailureCode>> = {
  UND_ERR_INVALID_ARG: "bad_request",
  ERR_INVALID_CHAR: "bad_request",
  ERR_INVALID_HTTP_TOKEN: "bad_request",
};

/** What is known of a request that failed. */
export interface FailedRequest {
  /** The response had begun. */
  readonly reading: boolean;
  /** The proxy that it went through, as it may be shown. Connections are then made to the proxy. */
  readonly proxy?: string | undefined;
  /** It went over TLS. */
  readonly secure?: boolean | undefined;
}

/**
 * The cause for an error of a socket or an HTTP client. An end that is orderly for TCP and too early for
 * HTTP is a truncation; any other break is a reset.
 */
export function networkFailure(
  error: unknown,
  { reading, proxy, secure = false }: FailedRequest,
): Cause {
  const { code, message, name } = innermost(error);
  if (proxy !== undefined) {
    const cause = proxyFailure(error, proxy);
    if (cause !== undefined) return cause;
  }
  const known = codeOfErrno[code];
  if (known !== undefined) {
    const whom = proxy === undefined ? "" : ` to the proxy ${proxy}`;
    return failure(known, `no connection${whom}: ${message}`, { error: code });
  }
  const tls = tlsFailure(code, message);
  if (tls !== undefined) return tls;
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
  const hint = secure && endedUnanswered(error) ? `; ${wantsCertificate}` : "";
  return failure("connection_reset", `the connection broke: ${message}${hint}`, { error: code });
}

const wantsCertificate =
  "a server that wants a client's certificate may end a new connection like this: if this one does, pass network.cert and network.key";

/** True for a connection on which nothing came: the alert of TLS is lost when the end comes with it. */
function endedUnanswered(error: unknown): boolean {
  const { socket } = (error ?? {}) as { readonly socket?: { readonly bytesRead?: unknown } };
  return socket?.bytesRead === 0;
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
