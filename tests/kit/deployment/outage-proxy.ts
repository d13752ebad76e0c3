import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** A TCP proxy before one server, by which one client process loses its way to that server. */
export interface OutageProxy extends AsyncDisposable {
  /** The server's address, by way of the proxy. */
  readonly url: string;
  /** Resets every open connection. New ones pass. */
  readonly cut: () => void;
  /** While it is on, no byte passes and no connection is closed: both sides see silence. */
  readonly blackhole: (on: boolean) => void;
  /** While it is on, connections are reset, also new ones. */
  readonly refuse: (on: boolean) => void;
  /** Resets each connection that is open now after so many more bytes of the server's. */
  readonly cutAfter: (bytes: number) => void;
  /** How many connections are open. */
  readonly connections: () => number;
}

/** Opens a proxy before the server that the URL names. A function is asked for each connection. */
export async function openOutageProxy(to: string | (() => string)): Promise<OutageProxy> {
  const url = typeof to === "string" ? to : to();
  const lines = new Set<Line>();
  let state: "open" | "silent" | "closed" = "open";
  const server: Server = createServer((client) => {
    if (state === "closed") {
      client.resetAndDestroy();
      return;
    }
    const target = new URL(typeof to === "string" ? to : to());
    const line = new Line(client, connect(Number(target.port), target.hostname));
    lines.add(line);
    line.far.once("close", () => lines.delete(line));
    if (state === "silent") line.hold();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as AddressInfo).port); // listening on a port, it has one
  const cut = (): void => lines.forEach((line) => line.reset());
  return {
    url: own.href.replace(/\/$/, ""),
    cut,
    blackhole: (on) => {
      state = on ? "silent" : "open";
      for (const line of lines) if (on) line.hold();
      if (!on) lines.forEach((line) => line.release());
    },
    refuse: (on) => {
      state = on ? "closed" : "open";
      if (on) cut();
    },
    cutAfter: (bytes) => lines.forEach((line) => line.cutAfter(bytes)),
    connections: () => lines.size,
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One connection through a proxy. */
class Line {
  readonly client: Socket;
  readonly far: Socket;
  #isCounted = false;
  #isHeld = false;

  constructor(client: Socket, far: Socket) {
    this.client = client;
    this.far = far;
    for (const socket of [client, far]) {
      socket.setNoDelay(true);
      socket.on("error", () => undefined); // the close that follows is enough
    }
    client.pipe(far);
    far.pipe(client);
    client.once("close", () => far.destroy());
    far.once("close", () => client.destroy());
  }

  hold(): void {
    this.#isHeld = true;
    this.client.unpipe(this.far).pause();
    this.far.unpipe(this.client).pause();
  }

  release(): void {
    this.#isHeld = false;
    this.client.pipe(this.far);
    if (this.#isCounted) this.far.resume();
    else this.far.pipe(this.client);
  }

  cutAfter(bytes: number): void {
    if (this.#isCounted) return;
    if (bytes === 0) return this.reset();
    this.#isCounted = true;
    let left = bytes;
    this.far.unpipe(this.client);
    this.far.on("data", (chunk: Buffer) => {
      if (left <= 0) return;
      this.client.write(chunk.subarray(0, left), () => {
        if (left <= 0) this.reset();
      });
      left -= chunk.length;
    });
    if (!this.#isHeld) this.far.resume(); // a stream whose pipe is taken away stands still
  }

  reset(): void {
    this.client.resetAndDestroy();
    this.far.destroy();
  }
}
