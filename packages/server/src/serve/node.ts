import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Server } from "node:net";
import { isLoopback } from "@millrace/core/checks";
import type { Incoming } from "../http/request.ts";
import type { EventResponse } from "../sse/sse-sink.ts";

/** A request of `node:http`, or of `node:http2` with the same interface. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** A request of Node. Nothing is copied: headers are read where they are. */
export class NodeIncoming implements Incoming {
  readonly #request: NodeRequest;
  readonly #response: EventResponse;
  #gone: AbortController | undefined;

  constructor(request: NodeRequest, response: EventResponse) {
    this.#request = request;
    this.#response = response;
  }

  get method(): string {
    return this.#request.method ?? "GET";
  }

  get target(): string {
    return this.#request.url ?? "/";
  }

  get peer(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  get encrypted(): boolean {
    return "encrypted" in this.#request.socket;
  }

  get headerBytes(): number {
    let size = this.target.length;
    for (const text of this.#request.rawHeaders) size += text.length + 2;
    return size;
  }

  get body(): AsyncIterable<Uint8Array> | undefined {
    if (this.#request.complete && this.header("content-length") === undefined) return undefined;
    const { method } = this;
    const length = this.header("content-length");
    const isFramed = length !== undefined || this.header("transfer-encoding") !== undefined;
    const isOpen = this.#request.httpVersionMajor >= 2 && method !== "GET" && method !== "HEAD";
    if ((!isFramed || length === "0") && (isFramed || !isOpen)) return undefined;
    // A body that is refused in its middle leaves its connection open: the answer goes out on it.
    const request = this.#request;
    return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) };
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = new AbortController();
      this.#gone = gone;
      const close = (): void => gone.abort();
      const response: { once: (event: "close", listener: () => void) => unknown } = this.#response;
      if (isClosed(this.#response)) gone.abort();
      else response.once("close", close);
    }
    return this.#gone.signal;
  }

  /** Whether the server of this connection listens, or was reached, beyond loopback. */
  get exposed(): boolean {
    const { socket } = this.#request;
    const { server } = socket as { readonly server?: Server };
    const address = server?.address();
    const bound = typeof address === "object" ? address?.address : undefined;
    if (bound !== undefined && !isLoopback(bound)) return true;
    return socket.localAddress !== undefined && !isLoopback(socket.localAddress);
  }

  readonly header = (name: string): string | undefined => {
    const { headers } = this.#request;
    const value = headers[name] ?? (name === "host" ? headers[":authority"] : undefined);
    return typeof value === "object" ? value.join(", ") : value;
  };

  *headers(): Generator<readonly [string, string], void, undefined> {
    const { rawHeaders } = this.#request;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      yield [rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""];
    }
  }
}

/** Whether the response is closed for its reader. */
export function isClosed(response: EventResponse): boolean {
  return "stream" in response ? response.stream.destroyed : response.closed;
}
