import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { createHub } from "../hub/hub.ts";
import type { Hub } from "../hub/hub.ts";
import type { HubOptions } from "../hub/options.ts";
import { sseSink } from "../sse/sse-sink.ts";
import { listen } from "./loopback.ts";
import { name, SessionFixture } from "./session-fixture.ts";

/** Changes a response before the delivery starts, as a middleware does. */
export type Prepare = (request: IncomingMessage, response: ServerResponse) => void;

/** A session, its hub, and a server that delivers it to every connection. */
export class HubServer implements AsyncDisposable {
  readonly session: SessionFixture;
  readonly hub: Hub;
  /** How deliveries ended: `ended`, or what they were rejected with. */
  readonly outcomes: unknown[] = [];
  readonly responses: ServerResponse[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #prepare: Prepare | undefined;
  readonly #sockets: Socket[] = [];
  #port = 0;

  private constructor(
    session: SessionFixture,
    options: Partial<HubOptions>,
    prepare: Prepare | undefined,
  ) {
    const { store, log, clock } = session;
    this.session = session;
    this.hub = createHub({ store, log, clock, ...options });
    this.#prepare = prepare;
  }

  static async open(options: Partial<HubOptions> = {}, prepare?: Prepare): Promise<HubServer> {
    const server = new HubServer(await SessionFixture.open(), options, prepare);
    server.#port = await listen(server.#server);
    return server;
  }

  /** A connection, and all that came over it so far. */
  async connect(line = "GET / HTTP/1.1"): Promise<Connection> {
    const socket = connect({ port: this.#port, host: "127.0.0.1" });
    this.#sockets.push(socket);
    await once(socket, "connect");
    socket.write(`${line}\r\nhost: 127.0.0.1\r\n\r\n`);
    let received = "";
    let closed = false;
    socket.on("data", (bytes) => {
      received += bytes.toString();
    });
    socket.on("close", () => {
      closed = true;
    });
    return { socket, received: () => received, closed: () => closed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hub[Symbol.dispose]();
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.responses.push(response);
    this.#prepare?.(request, response);
    try {
      await this.hub.deliver({ uid: this.session.uid, sessionId: name }, sseSink(response));
      this.outcomes.push("ended");
    } catch (error) {
      this.outcomes.push(error);
      if (!response.headersSent) response.writeHead(404).end();
    }
  }
}

export interface Connection {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: () => boolean;
}

/** Waits until the condition holds. Throws after 20 s. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const start = Date.now();
  while (!condition()) {
    if (Date.now() - start > 20_000) throw new Error(`timed out: ${what}`);
    await new Promise((wake) => setTimeout(wake, 1));
  }
}

/** Waits long enough for bytes that are on their way over loopback. */
export async function settleLoopback(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((wake) => setTimeout(wake, 1));
}
