import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** One end of a TCP connection, with what it has received. */
export class TcpEnd implements Disposable {
  readonly socket: Socket;
  /** The received bytes, one buffer per read. */
  readonly reads: Buffer[] = [];
  /** `fin`, or the code of the error. Undefined while it is open. */
  over: string | undefined;
  readonly #changed = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (bytes: Buffer) => {
      this.reads.push(bytes);
      this.#tell();
    });
    socket.once("end", () => this.#end("fin"));
    socket.once("error", (error: NodeJS.ErrnoException) => this.#end(error.code ?? "error"));
    socket.once("close", () => this.#end("closed"));
  }

  get received(): Buffer {
    return Buffer.concat(this.reads);
  }

  send(bytes: Uint8Array | string): void {
    this.socket.write(bytes);
  }

  /** Resolves when this many bytes have arrived. */
  async until(bytes: number): Promise<Buffer> {
    await this.#when(() => this.received.length >= bytes || this.over !== undefined);
    return this.received;
  }

  /** Resolves with how it ended when the other end has closed. */
  async ended(): Promise<string> {
    await this.#when(() => this.over !== undefined);
    return this.over ?? "";
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  async #when(done: () => boolean): Promise<void> {
    while (!done()) {
      await new Promise<void>((resolve) => {
        const told = (): void => {
          this.#changed.delete(told);
          resolve();
        };
        this.#changed.add(told);
      });
    }
  }

  #end(how: string): void {
    this.over ??= how;
    this.#tell();
  }

  #tell(): void {
    for (const told of this.#changed) told();
  }
}

/** A plain TCP server that keeps its connections. */
export interface TcpPeer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** The n-th connection, from 0. */
  readonly end: (index?: number) => Promise<TcpEnd>;
}

export async function startTcpPeer(): Promise<TcpPeer> {
  const ends: TcpEnd[] = [];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    ends.push(new TcpEnd(socket));
    server.emit("kept");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    end: async (index = 0) => {
      for (;;) {
        const end = ends[index];
        if (end !== undefined) return end;
        await new Promise((resolve) => server.once("kept", resolve));
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const { socket } of ends) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Resolves when it is connected; rejects if it is refused. */
export function connectTcp(port: number, { allowHalfOpen = false } = {}): Promise<TcpEnd> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(new TcpEnd(socket));
    });
  });
}
