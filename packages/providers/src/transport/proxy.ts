import { BlockList, isIP } from "node:net";
import { isLoopback } from "@millrace/core/checks";

/** What a program sets of a proxy. */
export interface ProxyChoice {
  readonly proxy?: string | false | undefined;
  readonly noProxy?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for an address, or undefined if it is asked directly. A proxy that the program sets counts for every
 * address but those of its `noProxy`. Otherwise the environment decides, as for curl and Go: `https_proxy` or
 * `http_proxy` by the address's scheme, in small letters first, and never for this machine or for what `no_proxy` lists.
 */
export function proxyFor(
  url: URL,
  choice: ProxyChoice,
  environment: Environment,
): string | undefined {
  if (choice.proxy === false) return undefined;
  if (choice.proxy !== undefined) {
    return isExcepted(url, choice.noProxy ?? "") ? undefined : withScheme(choice.proxy);
  }
  if (isLoopback(url.hostname)) return undefined;
  const found = url.protocol === "https:" ? secureProxy(environment) : plainProxy(environment);
  const excepted = choice.noProxy ?? environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  return found === "" || isExcepted(url, excepted) ? undefined : withScheme(found);
}

function secureProxy(environment: Environment): string {
  return environment["https_proxy"] ?? environment["HTTPS_PROXY"] ?? "";
}

/** A CGI server puts a client's header `Proxy` into `HTTP_PROXY`, so there only small letters count. */
function plainProxy(environment: Environment): string {
  const shouted =
    environment["REQUEST_METHOD"] === undefined ? environment["HTTP_PROXY"] : undefined;
  return environment["http_proxy"] ?? shouted ?? "";
}

/** `proxy.corp:3128` is an HTTP proxy. `new URL` would read the host as a scheme. */
function withScheme(proxy: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}

/**
 * True if a list such as `localhost,.corp.example,10.0.0.0/8,api.test:8443` has the address. A name counts for the
 * names below it, with or without a leading dot or `*.`; `*` is every address.
 */
export function isExcepted({ hostname, port, protocol }: URL, list: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const ownPort = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, bracketed, plain, only] =
        /^(?:\[([^\]]*)\]|([^:]*|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
      if (only !== undefined && only !== ownPort) return false;
      return hasHost(bracketed ?? plain ?? entry, host);
    });
}

function hasHost(entry: string, host: string): boolean {
  if (entry === "*" || entry === host) return true;
  const family = isIP(host);
  if (family === 0) {
    const name = entry.replace(/^\*?\./, "");
    return name !== "" && (host === name || host.endsWith(`.${name}`));
  }
  const [address = "", bits = ""] = entry.split("/");
  if (isIP(address) !== family || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const subnet = new BlockList();
  const kind = family === 4 ? "ipv4" : "ipv6";
  subnet.addSubnet(address, Number(bits), kind);
  return subnet.check(host, kind);
}
