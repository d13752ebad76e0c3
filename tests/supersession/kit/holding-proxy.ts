import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A TCP proxy that can hold back what a client sends. */
export interface HoldingProxy extends AsyncDisposable {
  readonly url: string;
  /** From now on what the client sends is held, as by a slow network. */
  readonly hold: () => void;
  /** How many bytes are kept. */
  readonly held: () => number;
  /** Lets them go, also those of a client that is dead. Resolves when the server has answered. */
  readonly release: () => Promise<void>;
}

/** Opens a proxy before the server that the URL names. */
export async function openHoldingProxy(url: string): Promise<HoldingProxy> {
  const target = new URL(url);
  const lines = new Set<Line>();
  let holding = false;
  const server: Server = createServer((client) => {
    const line = new Line(client, connect(Number(target.port), target.hostname), () => holding);
    lines.add(line);
    line.far.once("close", () => lines.delete(line));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as AddressInfo).port); // listening on a port, it has one
  return {
    url: own.href,
    hold: () => (holding = true),
    held: () => [...lines].reduce((sum, { kept }) => sum + kept.length, 0),
    release: async () => {
      holding = false;
      const waiting = [...lines].filter(({ kept }) => kept.length > 0);
      for (const line of waiting) line.release();
      for (let left = 1_000; waiting.some(({ answered }) => !answered); left -= 1) {
        if (left === 0) throw new Error("the server did not answer what was kept");
        await sleep(5);
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const { client, far } of lines) {
        client.destroy();
        far.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One connection through a proxy. */
class Line {
  readonly client: Socket;
  readonly far: Socket;
  kept: Buffer = Buffer.alloc(0);
  /** Whether the server sent anything since the last release. */
  answered = false;
  #clientGone = false;

  constructor(client: Socket, far: Socket, holding: () => boolean) {
    this.client = client;
    this.far = far;
    for (const socket of [client, far]) {
      socket.setNoDelay(true);
      socket.on("error", () => undefined); // the close that follows is enough
    }
    client.on("data", (bytes) => {
      if (holding()) this.kept = Buffer.concat([this.kept, bytes]);
      else far.write(bytes);
    });
    client.once("close", () => {
      this.#clientGone = true;
      if (this.kept.length === 0) far.destroy();
    });
    far.on("data", (bytes) => {
      this.answered = true;
      if (!this.#clientGone) client.write(bytes);
      else if (this.kept.length === 0) far.destroy();
    });
    far.once("close", () => {
      this.answered = true;
      client.destroy();
    });
  }

  release(): void {
    this.answered = false;
    const { kept } = this;
    this.kept = Buffer.alloc(0);
    this.far.write(kept);
  }
}
