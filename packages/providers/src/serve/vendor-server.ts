import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { playReply } from "./play.ts";
import type { Progress } from "./play.ts";
import { openScript } from "./vendor-reply.ts";
import type { ReplyOutcome, VendorReply, VendorRequest, VendorScript } from "./vendor-reply.ts";

/** What a vendor server replies, and where it listens. */
export interface VendorServerOptions {
  /** Replies in order, or a function that returns the reply for each request. */
  readonly replies: VendorScript;
  /** Default: 0, which takes any free port. */
  readonly port?: number | undefined;
}

/** A local HTTP server that sends a vendor's bytes. */
export interface VendorServer extends AsyncDisposable {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** In the order in which they were read. */
  readonly requests: readonly VendorRequest[];
  /** Resolves with a request, by its number from 1, as soon as it has been read. */
  readonly received: (number: number) => Promise<VendorRequest>;
  readonly openSockets: () => number;
  /** Ends all connections. Resolves when they are closed. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a server on this machine that replays a vendor's bytes: unchanged, split anywhere, delayed
 * or cut off. It records each request and how its reply ended.
 *
 * ```ts
 * await using server = await startVendorServer({
 *   replies: [
 *     { status: 429, headers: { "retry-after": "1" }, body: "{}" },
 *     { body: recorded, chunks: "byte" },
 *     { body: recorded.subarray(0, 100), end: "reset" },
 *   ],
 * });
 * await callTheModel(server.url);
 * server.requests[0]?.json; // the request body
 * ```
 */
export async function startVendorServer({
  replies,
  port = 0,
}: VendorServerOptions): Promise<VendorServer> {
  const desk = new Desk(replies);
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
    void desk.answer(request, response);
  });
  server.on("connection", (socket) => desk.admit(socket));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const close = (): Promise<void> => {
    desk.closing = true;
    return closeServer(server);
  };
  return {
    url: `http://${host}:${address.port}`,
    host,
    port: address.port,
    requests: desk.requests,
    received: (number) => desk.received(number),
    openSockets: () => desk.open,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const host = "127.0.0.1";

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // A second close calls back with an error. The server is closed either way.
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

class Desk {
  readonly requests: VendorRequest[] = [];
  open = 0;
  closing = false;
  readonly #next: (request: VendorRequest) => Promise<VendorReply>;
  readonly #numbers = new WeakMap<Socket, number>();
  #connections = 0;
  #waiting: { readonly number: number; readonly resolve: (request: VendorRequest) => void }[] = [];

  constructor(replies: VendorScript) {
    this.#next = openScript(replies);
  }

  admit(socket: Socket): void {
    this.#connections += 1;
    this.#numbers.set(socket, this.#connections);
    this.open += 1;
    socket.once("close", () => (this.open -= 1));
    // Clients reset connections in these tests; `close` reports it.
    socket.on("error", () => undefined);
  }

  received(number: number): Promise<VendorRequest> {
    const request = this.requests[number - 1];
    if (request !== undefined) return Promise.resolve(request);
    return new Promise((resolve) => this.#waiting.push({ number, resolve }));
  }

  async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    if (body === undefined) return;
    const progress: Progress = { sent: 0, over: false };
    const left = new AbortController();
    const ended = outcomeOf(response, progress, () => this.closing);
    const request = new Received(incoming, body, {
      number: this.requests.length + 1,
      connection: this.#numbers.get(incoming.socket) ?? 0,
      ended: ended.then((outcome) => {
        request.outcome = outcome;
        return outcome;
      }),
    });
    response.once("close", () => left.abort());
    this.#keep(request);
    const reply = await this.#next(request);
    try {
      await playReply(reply, response, { progress, left: left.signal });
    } catch (error) {
      // A reply that can't be sent, such as one with an illegal header, must not hang the client.
      response.destroy(error instanceof Error ? error : undefined);
    }
  }

  #keep(request: VendorRequest): void {
    this.requests.push(request);
    const due = this.#waiting.filter(({ number }) => number === request.number);
    this.#waiting = this.#waiting.filter(({ number }) => number !== request.number);
    for (const { resolve } of due) resolve(request);
  }
}

class Received implements VendorRequest {
  readonly number: number;
  readonly connection: number;
  readonly method: string;
  readonly path: string;
  readonly headers: VendorRequest["headers"];
  readonly body: string;
  outcome: ReplyOutcome | undefined;
  readonly ended: Promise<ReplyOutcome>;

  constructor(
    incoming: IncomingMessage,
    body: string,
    known: Pick<VendorRequest, "number" | "connection" | "ended">,
  ) {
    this.number = known.number;
    this.connection = known.connection;
    this.method = incoming.method ?? "";
    this.path = incoming.url ?? "";
    this.headers = incoming.headers;
    this.body = body;
    this.ended = known.ended;
  }

  get json(): unknown {
    try {
      return JSON.parse(this.body) as unknown;
    } catch {
      return undefined;
    }
  }
}

async function readBody(incoming: IncomingMessage): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of incoming) pieces.push(piece as Uint8Array);
  } catch {
    // The client disconnected while it was sending the request.
    return undefined;
  }
  return Buffer.concat(pieces).toString("utf8");
}

function outcomeOf(
  response: ServerResponse,
  progress: Progress,
  closing: () => boolean,
): Promise<ReplyOutcome> {
  const begun = performance.now();
  return new Promise((resolve) => {
    response.once("close", () => {
      resolve({
        by: progress.over || closing() ? "server" : "client",
        afterMs: performance.now() - begun,
        sentBytes: progress.sent,
      });
    });
  });
}
