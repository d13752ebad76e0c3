import { createServer, connect } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** What a proxy does with a message. */
export type Fate =
  | "pass"
  /** The message is kept back, and both sides are cut off. What was passed before it arrives. */
  | "cut";

/** One message of PostgreSQL's protocol. */
export interface PostgresMessage {
  readonly from: "client" | "server";
  /** Its letter. Nothing for the first one of a client, which has none. */
  readonly type: string;
  /** All of it, its letter and its length too. */
  readonly bytes: Buffer;
}

/** A TCP proxy to PostgreSQL that can be cut between any two messages. */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** How many connections were cut. */
  readonly cuts: () => number;
  /** Called for each message from either side, before it is passed on. */
  decide: (message: PostgresMessage) => Fate;
}

/** Opens a proxy to a port, or a socket by its path. It passes everything until `decide` is replaced. */
export async function openProxy(to: number | string): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let cuts = 0;
  const proxy: Proxy = {
    port: 0,
    cuts: () => cuts,
    decide: () => "pass",
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const server: Server = createServer((client) => {
    const far = typeof to === "number" ? connect(to, "127.0.0.1") : connect(to);
    const end = (): void => {
      // Bytes that were written before are still sent.
      client.destroySoon();
      far.destroySoon();
      sockets.delete(client);
      sockets.delete(far);
    };
    let cut = false;
    const join = (from: Socket, to: Socket, side: "client" | "server"): void => {
      const split = splitter(side);
      sockets.add(from);
      from.setNoDelay(true);
      from.on("data", (bytes) => {
        if (cut || from.destroyed || to.destroyed) return;
        const passed: Buffer[] = [];
        for (const message of split(bytes)) {
          cut = proxy.decide(message) === "cut";
          if (cut) break;
          passed.push(message.bytes);
        }
        if (passed.length > 0) to.write(Buffer.concat(passed));
        if (!cut) return;
        cuts += 1;
        end();
      });
      from.on("error", end);
      from.on("close", end);
    };
    join(client, far, "client");
    join(far, client, "server");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on a port has an address of this form.
  return Object.assign(proxy, { port: (server.address() as AddressInfo).port });
}

/** Whether this is the client's commit. */
export function isCommit({ from, type, bytes }: PostgresMessage): boolean {
  // A simple query, or the text of a prepared one: the store sends it without parameters.
  return from === "client" && "QP".includes(type) && type !== "" && bytes.includes("commit\0");
}

/** Whether this is the server's confirmation of a commit. */
export function isCommitted({ from, type, bytes }: PostgresMessage): boolean {
  return from === "server" && type === "C" && bytes.includes("COMMIT\0");
}

/** Cuts bytes as they come into messages. What is not whole waits. */
function splitter(from: "client" | "server"): (bytes: Buffer) => readonly PostgresMessage[] {
  let rest: Buffer = Buffer.alloc(0);
  let named = from === "server";
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const messages: PostgresMessage[] = [];
    for (;;) {
      const start = named ? 1 : 0;
      if (rest.length < start + 4) return messages;
      const length = start + rest.readUInt32BE(start);
      if (rest.length < length) return messages;
      const type = named ? rest.toString("latin1", 0, 1) : "";
      messages.push({ from, type, bytes: rest.subarray(0, length) });
      rest = rest.subarray(length);
      named = true;
    }
  };
}
