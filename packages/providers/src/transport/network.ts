import { createHash } from "node:crypto";
// As one object: an older Node lacks some names, and would say so before we can say which Node is needed.
import tls from "node:tls";
import type { SecureContext } from "node:tls";
import type * as UndiciModule from "undici";
import type { Agent, Dispatcher, Pool, ProxyAgent } from "undici";
import type { Cause } from "@millrace/core";
import { rememberUrl, redactedUrl } from "@millrace/core/secrets";
import { failure } from "../failure.ts";
import { isHttpAddress } from "./address.ts";
import { proxyFor } from "./proxy.ts";

/** How requests reach a vendor: through a proxy, with certificates of one's own, over HTTP/2. */
export interface Network {
  /**
   * A forward proxy, such as `http://user:password@proxy.corp:3128`; it is used for every address. `false`: none.
   * Default: that of `HTTPS_PROXY` or `HTTP_PROXY`, which are not used for this machine's own addresses.
   */
  readonly proxy?: string | false | undefined;
  /** Hosts that are asked directly, separated by commas. Default: `NO_PROXY`, unless `proxy` is set. */
  readonly noProxy?: string | undefined;
  /**
   * Certificates of authorities in PEM, which are trusted beside those that the runtime trusts. Those of
   * `NODE_EXTRA_CA_CERTS` are among the latter.
   */
  readonly ca?: Pem | readonly Pem[] | undefined;
  /** The client's own certificate in PEM, with `key`. */
  readonly cert?: Pem | undefined;
  /** The private key of `cert` in PEM. */
  readonly key?: Pem | undefined;
  /** The password of `key`. */
  readonly passphrase?: string | undefined;
  /**
   * `true`: HTTP/2 where the server offers it. Many replies then share one connection, so that they also end
   * together when it breaks. Default: `false`, a connection for each reply under way.
   */
  readonly http2?: boolean | undefined;
}

/** A text in PEM, or its bytes. */
export type Pem = string | Uint8Array;

/** How a request gets to its server. */
export interface Route {
  readonly dispatcher: Dispatcher;
  /** The proxy as it may be shown, if there is one. */
  readonly proxy?: string | undefined;
}

/** The HTTP client, once it is loaded. */
export type Undici = typeof UndiciModule;
let loaded: Undici | undefined;

/**
 * The HTTP client. It is loaded with the first request: it takes as long to load as all of our own code, and a
 * program that imports a provider may ask nothing. A promise only for the first callers.
 */
export function loadUndici(): Undici | Promise<Undici> {
  return loaded ?? import("undici").then((undici) => (loaded = undici));
}

/**
 * The route to an address. The environment is read each time, so a proxy may be set later. Connections are kept for
 * the next request by the same network; idle ones don't keep the process alive.
 */
export function routeTo(undici: Undici, address: string, network: Network = {}): Route | Cause {
  const proxy = proxyFor(new URL(address), network, process.env);
  if (proxy === undefined) {
    return { dispatcher: kept(keyOf(network), () => directAgent(undici, network)) };
  }
  rememberUrl(proxy);
  const shown = redactedUrl(proxy);
  if (!isHttpAddress(proxy)) {
    const message = `the proxy ${JSON.stringify(shown)} can't be used: begin its address with http:// or https://`;
    return failure("bad_request", message);
  }
  try {
    const dispatcher = kept(`${proxy}\n${keyOf(network)}`, () =>
      proxyAgent(undici, proxy, network),
    );
    return { dispatcher, proxy: shown };
  } catch {
    const message = `the login in the address of the proxy ${shown} can't be read: write special characters as %XX`;
    return failure("bad_request", message);
  }
}

/** All timeouts are in `watch`: undici's would end a model that thinks for five minutes. */
const patient = { headersTimeout: 0, bodyTimeout: 0 } as const;

/** The longest that a connection may take, whatever the request's own clock is. */
const connectMs = 60_000;

function directAgent(undici: Undici, network: Network): Agent {
  const { http2 = false } = network;
  return new undici.Agent({
    ...patient,
    allowH2: http2,
    connect: { timeout: connectMs, preferH2: http2, ...contextOf(network) },
  });
}

function proxyAgent(undici: Undici, uri: string, network: Network): ProxyAgent {
  const { http2 = false, ca } = network;
  return new undici.ProxyAgent({
    ...patient,
    uri,
    allowH2: http2,
    connectTimeout: connectMs,
    // The pool of requests that are not tunnelled is made without the agent's options.
    factory: (origin, options: Pool.Options) => new undici.Pool(origin, { ...options, ...patient }),
    clientFactory: (origin, options: Pool.Options) =>
      new undici.Pool(origin, { ...options, headersTimeout: connectMs, bodyTimeout: 0 }),
    requestTls: { preferH2: http2, ...contextOf(network) },
    proxyTls: { allowH2: false, ...contextOf({ ca }) },
  });
}

/** Made once for each network: reading the runtime's certificates for each connection takes milliseconds. */
function contextOf({ ca, cert, key, passphrase }: Network): { secureContext?: SecureContext } {
  if (ca === undefined && cert === undefined && key === undefined) return {};
  const more = ca === undefined ? [] : [ca].flat();
  const secureContext = tls.createSecureContext({
    ca: [...tls.getCACertificates("default"), ...more.map(textOf)],
    ...(cert === undefined ? {} : { cert: textOf(cert) }),
    ...(key === undefined ? {} : { key: textOf(key) }),
    ...(passphrase === undefined ? {} : { passphrase }),
  });
  return { secureContext };
}

function textOf(pem: Pem): string {
  return typeof pem === "string" ? pem : new TextDecoder().decode(pem);
}

/** The agents by their networks, the one that was used last at the end. */
const agents = new Map<string, Dispatcher>();

/** More networks than a process has, unless it makes one for each of its tenants. */
const mostAgents = 64;

function kept(key: string, make: () => Dispatcher): Dispatcher {
  const agent = agents.get(key) ?? make();
  agents.delete(key);
  agents.set(key, agent);
  const [oldest] = agents;
  if (agents.size > mostAgents && oldest !== undefined) {
    agents.delete(oldest[0]);
    void oldest[1].close(); // after the requests that it has
  }
  return agent;
}

/** Equal for networks that can share connections. Keys are hashed, so that no map holds them as text. */
function keyOf({ ca, cert, key, passphrase, http2 = false }: Network): string {
  if ((ca ?? cert ?? key) === undefined) return String(http2);
  const hash = createHash("sha256");
  for (const pem of [cert, key, passphrase, ...(ca === undefined ? [] : [ca].flat())]) {
    hash.update(pem === undefined ? "none" : textOf(pem)).update("\0");
  }
  return `${http2} ${hash.digest("base64")}`;
}
