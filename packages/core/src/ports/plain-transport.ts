import { MillraceError } from "../errors.ts";

/** How a server is reached, as far as the question goes whether others can read along. */
export interface Transport {
  /** A name or an address, without a port. Left out: a socket of this machine. */
  readonly host: string | undefined;
  readonly encrypted: boolean;
  /** What the caller set. */
  readonly allowPlain: boolean | undefined;
  /** How to encrypt it, for the error: "use rediss://". */
  readonly instead: string;
}

/**
 * Why a server is not connected to: what is sent would cross a network unencrypted, and the caller has
 * not allowed that. Undefined if it may be connected to.
 */
export function plainTransportFault(transport: Transport): string | undefined {
  const { host, encrypted, allowPlain, instead } = transport;
  if (encrypted || allowPlain === true || host === undefined || isLoopback(host)) return undefined;
  const otherwise = "or set allowPlain: true if you trust every network on the way";
  return `the connection to ${host} is not encrypted, and others on the way could read and change what it carries: ${instead}, ${otherwise}`;
}

/** Throws `invalid_definition` for a transport that is neither encrypted nor on this machine nor allowed. */
export function refusePlainTransport(transport: Transport): void {
  const fault = plainTransportFault(transport);
  if (fault !== undefined) throw new MillraceError("invalid_definition", fault);
}

/** Whether a host is this machine, so that what is sent to it crosses no network. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  const [, four = name] = /^::ffff:([\d.]+)$/.exec(name) ?? [];
  if (/^::ffff:7f[\da-f]{2}:[\da-f]{1,4}$/.test(name)) return true; // 127.0.0.1 as URLs write it
  return name === "::1" || name === "0:0:0:0:0:0:0:1" || /^127(?:\.\d{1,3}){3}$/.test(four);
}

/** The transport of a URL, `https:` and the like being encrypted. A URL that can't be read has none. */
export function transportOf(
  url: string,
  { secure, allowPlain }: { readonly secure: string; readonly allowPlain: boolean | undefined },
): Transport {
  const read = URL.canParse(url) ? new URL(url) : undefined;
  return {
    host: read === undefined || read.hostname === "" ? undefined : read.hostname,
    encrypted: read?.protocol === secure,
    allowPlain,
    instead: `use ${secure}//`,
  };
}
