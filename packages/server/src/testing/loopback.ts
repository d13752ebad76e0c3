import { once } from "node:events";
import { createServer, get } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Followed } from "@millrace/core/reading";
import type { Hub } from "../hub/hub.ts";
import { sseSink } from "../sse/sse-sink.ts";
import { StreamReader, formFor } from "./stream-reader.ts";
import type { Resumed } from "./stream-reader.ts";

interface Visit {
  readonly hub: Hub;
  readonly options: Resumed;
  /** How the delivery ended. Never rejects. */
  readonly outcome: PromiseWithResolvers<Error | undefined>;
}

/** A server on loopback: watching goes through a real socket, as bytes, and is decoded again. */
export interface Loopback extends AsyncDisposable {
  /** As `hub.watch`. */
  readonly watch: (hub: Hub, options: Resumed) => AsyncGenerator<Followed, void, undefined>;
}

export async function openLoopback(): Promise<Loopback> {
  const visits = new Map<string, Visit>();
  let count = 0;
  const server = createServer((request, response) => {
    void serve(visits.get(request.url ?? ""), response);
  });
  const port = await listen(server);

  async function* watch(hub: Hub, options: Resumed): AsyncGenerator<Followed, void, undefined> {
    count += 1;
    const path = `/${count}`;
    const visit: Visit = { hub, options, outcome: Promise.withResolvers() };
    visits.set(path, visit);
    const { signal } = options;
    if (signal?.aborted === true) return;
    const request = get({ port, path, agent: false, host: "127.0.0.1" });
    const leave = (): void => void request.destroy();
    signal?.addEventListener("abort", leave, { once: true });
    try {
      // `once` types an event's arguments as `any[]`.
      const [response] = (await once(request, "response")) as [IncomingMessage];
      yield* decode(response, options);
      const error = await visit.outcome.promise;
      if (error !== undefined) throw error;
    } catch (error) {
      if (!isAborted(signal)) throw error;
    } finally {
      signal?.removeEventListener("abort", leave);
      leave();
    }
  }
  return {
    watch,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Listens on a free port of this machine. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1", 8_192);
  await once(server, "listening");
  return (server.address() as AddressInfo).port; // it listens on a port
}

async function serve(visit: Visit | undefined, response: ServerResponse): Promise<void> {
  if (visit === undefined) throw new TypeError("a request without a watch");
  const { hub, options, outcome } = visit;
  const { uid, sessionId, cursor } = options;
  try {
    await hub.deliver({ uid, sessionId, cursor, form: formFor(options) }, sseSink(response));
    outcome.resolve(undefined);
  } catch (error) {
    outcome.resolve(error instanceof Error ? error : new Error(String(error)));
  }
  if (!response.headersSent) response.writeHead(404);
  response.end();
}

async function* decode(
  response: AsyncIterable<Uint8Array>,
  options: Resumed,
): AsyncGenerator<Followed, void, undefined> {
  const reader = new StreamReader(options.state);
  const text = new TextDecoder();
  for await (const bytes of response) yield* reader.feed(text.decode(bytes, { stream: true }));
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
