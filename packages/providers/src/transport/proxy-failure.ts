import type { Cause } from "@millrace/core";
import { failure } from "../failure.ts";

/**
 * The cause for an error that the proxy itself made: it wants a login, refuses the address, or ends the connection.
 * Undefined for other errors.
 */
export function proxyFailure(error: unknown, proxy: string): Cause | undefined {
  const texts: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    if ("code" in each && each.code === "UND_ERR_PRX_CONN") {
      const message = `the proxy ${proxy} ended the connection before it reached the server`;
      return failure("connection_reset", message, { proxy });
    }
    if ("code" in each && each.code === "UND_ERR_PRX_TLS") {
      const message = `the certificate of the proxy ${proxy} is for another name: use the one that it is for`;
      return failure("protocol", message, { proxy });
    }
    texts.push(each.message);
  }
  // undici has the status in the message alone: of a tunnel, and of a request that is passed on.
  const [, tunnel, plain] =
    /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)/.exec(texts[0] ?? "") ??
    [];
  const status = Number(tunnel ?? plain);
  return Number.isNaN(status) ? undefined : refusedBy(proxy, status);
}

function refusedBy(proxy: string, status: number): Cause {
  const evidence = { proxy, status };
  if (status === 407) {
    const message = `the proxy ${proxy} wants a login (407): write it into its address, as in http://user:password@host:port`;
    return failure("proxy_refused", message, evidence);
  }
  if (status >= 500) {
    const message = `the proxy ${proxy} does not reach the server (${status})`;
    return failure("connection_refused", message, evidence);
  }
  const message = `the proxy ${proxy} does not let the request through (${status}): ask its operator to allow the server's address`;
  return failure("proxy_refused", message, evidence);
}
