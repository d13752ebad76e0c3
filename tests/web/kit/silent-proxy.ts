import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A TCP proxy that can stop passing bytes without closing anything. */
export interface SilentProxy extends AsyncDisposable {
  readonly url: string;
  /** From now on nothing passes on the connections that are open. New ones pass. */
  readonly hush: () => void;
}

/** Opens a proxy before a server. */
export async function openSilentProxy(to: string): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const far = connect(Number(new URL(to).port), "127.0.0.1");
    client.pipe(far);
    far.pipe(client);
    for (const socket of [client, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined); // the close that follows is enough
      socket.once("close", () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  return {
    url: `http://127.0.0.1:${port}`,
    hush: () => {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
