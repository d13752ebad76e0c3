import type { Cause } from "@millrace/core";
import { failure } from "../failure.ts";

const unknownAuthority =
  "if the server is right, pass its authority's certificate as network.ca, or set NODE_EXTRA_CA_CERTS before the program starts";
const ownCertificate = "pass network.cert and network.key, of an authority that the server knows";

/** Errors of TLS that no repetition mends, each with what to do. */
const fixes: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the server's certificate has to be renewed, or this host's date is wrong",
  CERT_NOT_YET_VALID: "check the date of this host",
  ERR_TLS_CERT_ALTNAME_INVALID: "use the name that the server's certificate is for",
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  // Alerts of a server that did not get the client's certificate, or does not accept it.
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ownCertificate,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: ownCertificate,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: ownCertificate,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: ownCertificate,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: ownCertificate,
  ERR_SSL_WRONG_VERSION_NUMBER:
    "the server does not speak TLS there: check the scheme and the port",
};

/** The cause for an error of TLS, or undefined if it is none that is known. */
export function tlsFailure(code: string, message: string): Cause | undefined {
  const fix = fixes[code];
  if (fix === undefined) return undefined;
  const text = `the request can't be sent: ${oneLine(message)}; ${fix}`;
  return failure("protocol", text, { error: code });
}

/** OpenSSL's messages have a thread, a file and a line before the reason, and a line break behind it. */
function oneLine(message: string): string {
  return /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? message.trim();
}
