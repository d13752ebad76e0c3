/**
 * A request, however it came: by `node:http`, HTTP/2 or `fetch`. One pipeline serves all of them, and no
 * web `Request` is made unless the application's `authenticate` wants one.
 */
export interface Incoming {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  /** A header by its lower-case name. Several of one name are joined by a comma. */
  readonly header: (name: string) => string | undefined;
  /** Name and value of each header. */
  readonly headers: () => Iterable<readonly [string, string]>;
  /** The size of all headers, about as they were sent. */
  readonly headerBytes: number;
  /** Whether the connection to this process is encrypted. */
  readonly encrypted: boolean;
  /** Undefined if the request has no body. Read once. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** Aborted when the client is gone. Made when it is first read: most requests need none. */
  readonly signal: AbortSignal;
  /** Why this listener must not serve the request: it listens beyond loopback. For local mode. */
  readonly exposed: boolean;
}

/** What `authenticate` gets: the request's head, without its body. */
export function requestHead(incoming: Incoming, url: string): Request {
  const headers = new Headers();
  for (const [name, value] of incoming.headers()) {
    if (!name.startsWith(":")) headers.append(name, value);
  }
  return new Request(url, { method: incoming.method, headers });
}
