import type { Protocol, RequestTarget, WireRequest } from "./protocol.ts";

/** Where a vendor is reached, and what each request to it has. */
export interface Endpoint {
  /** Without a trailing slash; the protocol's path follows. It may have a query, which stays behind the path. */
  readonly baseUrl: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Parameters in the address of each request, such as `api-version`. They replace those of the path. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** What to do if `baseUrl` is empty: completes "there is no address: ". */
  readonly missing?: string | undefined;
}

/** The address of a request: base, path, and the parameters of all three. */
export function urlOf({ baseUrl, query = {} }: Endpoint, { path }: WireRequest): string {
  const [base, ...first] = halves(baseUrl);
  const [rest, ...second] = halves(path);
  const parameters = new URLSearchParams([...first, ...second].join("&"));
  for (const [name, value] of Object.entries(query)) parameters.set(name, value);
  const search = parameters.toString();
  return base.replace(/\/+$/, "") + rest + (search === "" ? "" : `?${search}`);
}

function halves(address: string): readonly [string, string?] {
  const at = address.indexOf("?");
  return at < 0 ? [address] : [address.slice(0, at), address.slice(at + 1)];
}

/**
 * The protocol with its requests changed: for a cloud that takes a vendor's format under another path, or
 * with fields of its own. Reading stays as it is, and so does the id, so that a transcript can move between the
 * cloud and the vendor.
 */
export function mapRequest<Event, State>(
  protocol: Protocol<Event, State>,
  map: (wire: WireRequest, target: RequestTarget) => WireRequest,
): Protocol<Event, State> {
  return {
    ...protocol,
    request: (request, target) => map(protocol.request(request, target), target),
  };
}
