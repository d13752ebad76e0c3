import { isLoopback } from "@millrace/core/checks";
import type { Incoming } from "../http/request.ts";
import { Problem } from "../http/problem.ts";
import { countedAddress } from "./peers.ts";

/** Which hosts and origins a server answers. */
export interface AddressOptions {
  readonly hosts?: readonly string[] | undefined;
  readonly origins?: readonly string[] | undefined;
  /** Whether `X-Forwarded-Host`, `X-Forwarded-Proto` and the last of `X-Forwarded-For` are believed. */
  readonly trustProxy?: boolean | undefined;
  /** Local mode: only loopback hosts, only the own origin. */
  readonly local: boolean;
}

/** The host and the origin by which a request reached the server. */
export interface Address {
  readonly host: string;
  readonly origin: string;
}

/** Checks by which name and from which page a request comes. */
export class Addresses {
  readonly #options: AddressOptions;
  readonly #hosts: ReadonlySet<string> | undefined;
  readonly #origins: ReadonlySet<string> | undefined;

  constructor(options: AddressOptions) {
    this.#options = options;
    const { hosts, origins, local } = options;
    this.#hosts = hosts && new Set(hosts.map((host) => host.toLowerCase()));
    this.#origins = origins === undefined || local ? undefined : new Set(origins);
  }

  /** Throws `wrong_host`: a page can't reach the server by a name that its owner points here. */
  admit(incoming: Incoming): Address {
    const { trustProxy = false, local } = this.#options;
    const forwarded = trustProxy && !local;
    const given =
      (forwarded ? first(incoming.header("x-forwarded-host")) : undefined) ??
      incoming.header("host") ??
      incoming.header(":authority") ??
      "";
    const host = given.toLowerCase();
    if (!/^[a-z0-9._~-]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/.test(host))
      throw wrongHost();
    if (local && (!isLoopback(withoutPort(host)) || incoming.exposed)) {
      const fix = "listen on 127.0.0.1 and use a loopback name, or pass authenticate";
      throw new Problem("wrong_host", `without authenticate only this machine is served: ${fix}`);
    }
    if (
      this.#hosts !== undefined &&
      !this.#hosts.has(host) &&
      !this.#hosts.has(withoutPort(host))
    ) {
      throw wrongHost();
    }
    const proto = forwarded ? first(incoming.header("x-forwarded-proto")) : undefined;
    if (proto !== undefined && proto !== "https" && proto !== "http") {
      const detail = "X-Forwarded-Proto is https or http: a proxy that is trusted sets it";
      throw new Problem("invalid_request", detail);
    }
    const scheme = proto ?? (incoming.encrypted ? "https" : "http");
    return { host, origin: `${scheme}://${host}` };
  }

  /** The address by which a caller is counted. Undefined where many callers share it. */
  counted(incoming: Incoming): string | undefined {
    const { trustProxy = false, local } = this.#options;
    return local ? undefined : countedAddress(incoming, trustProxy);
  }

  /** Whether pages of this origin may use the server. `null` is never listed. */
  lists(origin: string, { origin: own }: Address): boolean {
    return this.#origins === undefined ? origin === own : this.#origins.has(origin);
  }

  /**
   * Throws `origin_refused`. With `Authorization` or a ticket an absent origin is fine: curl and servers
   * have none. Without them the browser may have added a cookie by itself, so unsafe verbs need a listed
   * origin, and no other site reaches even the safe ones.
   */
  admitOrigin(incoming: Incoming, address: Address, explicit: boolean): void {
    const origin = incoming.header("origin");
    if (origin !== undefined) {
      if (this.lists(origin, address)) return;
      throw refusedOrigin("this origin is not listed in origins");
    }
    if (explicit) return;
    if (incoming.header("sec-fetch-site") === "cross-site") {
      throw refusedOrigin("another site may not use the cookie");
    }
    // Without a cookie there is nothing that a browser could have added: the request has no credentials.
    if (incoming.header("cookie") === undefined) return;
    if (incoming.method === "GET" || incoming.method === "HEAD" || incoming.method === "OPTIONS")
      return;
    throw refusedOrigin("send Authorization, or come from a page of a listed origin");
  }
}

function first(list: string | undefined): string | undefined {
  return list?.split(",", 1)[0]?.trim();
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}

function wrongHost(): Problem {
  return new Problem("wrong_host", "this server does not answer for that host: list it in hosts");
}

function refusedOrigin(detail: string): Problem {
  return new Problem("origin_refused", detail);
}
