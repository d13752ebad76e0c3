import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { createHub } from "../hub/hub.ts";
import type { Hub, HubOptions } from "../hub/hub.ts";
import { sseSink } from "../sse/sse-sink.ts";
import { listen } from "./loopback.ts";
import { name, Scene } from "./scene.ts";

/** Changes a response before it is delivered to, as a middleware does. */
export type Prepare = (request: IncomingMessage, response: ServerResponse) => void;

/** A scene, a hub before it, and a server that delivers it to whoever connects. */
export class Stand implements AsyncDisposable {
  readonly scene: Scene;
  readonly hub: Hub;
  /** How deliveries ended: `ended`, or what they were rejected with. */
  readonly outcomes: unknown[] = [];
  readonly responses: ServerResponse[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #prepare: Prepare | undefined;
  readonly #sockets: Socket[] = [];
  #port = 0;

  private constructor(scene: Scene, options: Partial<HubOptions>, prepare: Prepare | undefined) {
    const { store, log, clock } = scene;
    this.scene = scene;
    this.hub = createHub({ store, log, clock, ...options });
    this.#prepare = prepare;
  }

  static async open(options: Partial<HubOptions> = {}, prepare?: Prepare): Promise<Stand> {
    const stand = new Stand(await Scene.open(), options, prepare);
    stand.#port = await listen(stand.#server);
    return stand;
  }

  /** A connection, and all that came over it so far. */
  async visit(line = "GET / HTTP/1.1"): Promise<Visitor> {
    const socket = connect({ port: this.#port, host: "127.0.0.1" });
    this.#sockets.push(socket);
    await once(socket, "connect");
    socket.write(`${line}\r\nhost: 127.0.0.1\r\n\r\n`);
    let heard = "";
    let closed = false;
    socket.on("data", (bytes) => {
      heard += bytes.toString();
    });
    socket.on("close", () => {
      closed = true;
    });
    return { socket, heard: () => heard, closed: () => closed };
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
      await this.hub.deliver({ uid: this.scene.uid, sessionId: name }, sseSink(response));
      this.outcomes.push("ended");
    } catch (error) {
      this.outcomes.push(error);
      if (!response.headersSent) response.writeHead(404).end();
    }
  }
}

export interface Visitor {
  readonly socket: Socket;
  readonly heard: () => string;
  readonly closed: () => boolean;
}

/** Lets the machine work until something is so. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const start = Date.now();
  while (!condition()) {
    if (Date.now() - start > 20_000) throw new Error(`never came to be: ${what}`);
    await new Promise((wake) => setTimeout(wake, 1));
  }
}

/** Long enough for what is on its way over loopback to come, or for nothing to come. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((wake) => setTimeout(wake, 1));
}
