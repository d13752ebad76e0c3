import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { get } from "node:http";

/** A TCP proxy before several nodes: connections go to one after the other of those that are ready. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
}

/** How often the nodes are asked whether they are ready. */
const askMs = 100;

/** Opens a balancer before nodes, by their addresses. */
export async function openBalancer(urls: readonly string[]): Promise<Balancer> {
  const ready = new Set(urls);
  const sockets = new Set<Socket>();
  let turn = 0;
  const join = (client: Socket, triesLeft: number): void => {
    const candidates = ready.size > 0 ? [...ready] : urls;
    const url = candidates[turn++ % candidates.length] ?? "";
    const far = connect(Number(new URL(url).port), "127.0.0.1");
    far.setNoDelay(true);
    far.once("connect", () => {
      far.off("error", again);
      far.on("error", () => client.destroy());
      sockets.add(far);
      client.pipe(far);
      far.pipe(client);
      client.once("close", () => far.destroy());
      far.once("close", () => {
        sockets.delete(far);
        client.destroySoon(); // what came before is still sent
      });
    });
    const again = (): void => {
      ready.delete(url);
      if (triesLeft > 0) join(client, triesLeft - 1);
      else client.destroy();
    };
    far.once("error", again);
  };
  const server = createServer((client) => {
    sockets.add(client);
    client.setNoDelay(true);
    client.on("error", () => undefined); // the close that follows is enough
    client.once("close", () => sockets.delete(client));
    join(client, urls.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const asking = setInterval(() => {
    for (const url of urls)
      void isReady(url).then((is) => (is ? ready.add(url) : ready.delete(url)));
  }, askMs);
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      clearInterval(asking);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const asked = get(`${url}/v1/ready`, { agent: false, timeout: 2_000 }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  });
  asked.once("timeout", () => asked.destroy());
  asked.once("error", () => resolve(false));
  asked.once("close", () => resolve(false));
  return await promise;
}
