import { MillraceError } from "@millrace/core";
import { transportOf } from "@millrace/core/checks";
import type { Transport } from "@millrace/core/checks";
import { rememberUrl, redactedUrl } from "@millrace/core/secrets";
import type { RedisClientOptions } from "@redis/client";

/** Where Redis is, of all that is kept there. */
export interface RedisAddress {
  readonly url?: string | undefined;
  readonly client?: RedisClientOptions | undefined;
  readonly allowPlain?: boolean | undefined;
}

/** The address of a single Redis. Undefined if the settings of the client hold it. */
export function urlOf(options: RedisAddress): string | undefined {
  const known = usesEnvironment(options)
    ? (process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379")
    : (options.url ?? options.client?.url);
  return known && checkedUrl(known);
}

/** Whether neither the options nor the settings of the client have an address. */
export function usesEnvironment({ url, client = {} }: RedisAddress): boolean {
  return (url ?? client.url ?? client.socket) === undefined;
}

/** The error of the client library would show a broken URL with its password. */
export function checkedUrl(url: string): string {
  rememberUrl(url);
  if (URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)) return url;
  const message = `the address ${redactedUrl(url)} is no URL of Redis: use redis://user:password@host:port or rediss://…, and encode special characters of the password, such as / as %2F`;
  throw new MillraceError("invalid_definition", message);
}

/** The transport to a node. Settings of the client apply where the address leaves them open. */
export function transportTo(
  url: string | undefined,
  { client, allowPlain }: RedisAddress,
): Transport {
  const { socket } = client ?? {};
  const encrypted = socket !== undefined && "tls" in socket && socket.tls;
  const instead = "use rediss://";
  if (url !== undefined) {
    const transport = transportOf(url, { secure: "rediss:", allowPlain });
    return { ...transport, encrypted: transport.encrypted || encrypted };
  }
  const host = socket !== undefined && "host" in socket ? socket.host : undefined;
  return { host, encrypted, allowPlain, instead };
}
