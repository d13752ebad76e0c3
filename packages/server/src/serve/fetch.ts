import type { Incoming } from "../http/request.ts";
import { splitTarget } from "../http/request.ts";
import { eventStreamHeaders } from "../sse/headers.ts";
import { webSink } from "../sse/web-sink.ts";
import type { WebSinkOptions } from "../sse/web-sink.ts";
import type { Reply, ReplyStream } from "./reply.ts";

/** A web `Request`. */
export class WebIncoming implements Incoming {
  readonly #request: Request;
  readonly #url: URL;

  constructor(request: Request) {
    this.#request = request;
    this.#url = new URL(request.url);
  }

  get method(): string {
    return this.#request.method;
  }

  get target(): string {
    const { path, query } = splitTarget(this.#request.url);
    return query === "" ? path : `${path}?${query}`;
  }

  get peer(): undefined {
    return undefined; // who called is not known here
  }

  get encrypted(): boolean {
    return this.#url.protocol === "https:";
  }

  get headerBytes(): number {
    let size = this.#request.url.length;
    for (const [name, value] of this.headers()) size += name.length + value.length + 4;
    return size;
  }

  get body(): AsyncIterable<Uint8Array> | undefined {
    const { body } = this.#request;
    return body ?? undefined;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get exposed(): boolean {
    return false; // what it listens on is not known here
  }

  readonly header = (name: string): string | undefined => {
    const value = this.#request.headers.get(name) ?? undefined;
    // A server that made this request has put the host into its address.
    return value ?? (name === "host" ? this.#url.host : undefined);
  };

  headers(): Iterable<readonly [string, string]> {
    return this.#request.headers;
  }
}

/** The reply as a web `Response`. A stream that fails before its first byte is a problem instead. */
export async function webResponse(reply: Reply, sinks: WebSinkOptions): Promise<Response> {
  const { status, headers, body, stream } = reply;
  if (stream !== undefined) return streamResponse(reply, stream, sinks);
  return new Response(body === undefined ? null : bodyOf(body), { status, headers: own(headers) });
}

async function streamResponse(
  reply: Reply,
  stream: ReplyStream,
  sinks: WebSinkOptions,
): Promise<Response> {
  const sink = webSink(sinks);
  const { promise: failed, resolve: fail } = Promise.withResolvers<{ readonly error: unknown }>();
  void stream
    .start(sink)
    .catch((error: unknown) => fail({ error }))
    .finally(() => stream.ended());
  const failure = await Promise.race([sink.opened, failed]);
  if (failure !== undefined) return webResponse(await stream.failed(failure.error), sinks);
  const headers = { ...own(reply.headers), ...eventStreamHeaders };
  return new Response(sink.stream, { status: reply.status, headers });
}

/** Connections are the host's. */
function own(headers: Reply["headers"]): Record<string, string> {
  const { connection: _, ...others } = headers;
  return others;
}

function bodyOf(
  body: Uint8Array | AsyncIterable<Uint8Array>,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  // A view of memory that is not shared: what the type asks for.
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  const pieces = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await pieces.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await pieces.return?.();
    },
  });
}
