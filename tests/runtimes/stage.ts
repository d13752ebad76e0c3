import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest } from "node:http";
import type { Server } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server as TcpServer, Socket } from "node:net";
import type { Stage } from "./kit.ts";

/** A server and the ways to it, until it is disposed of. */
export interface OpenStage extends AsyncDisposable {
  readonly stage: Stage;
}

/** Starts the server of the cases with its sessions in a folder, and the proxies before it. */
export async function openStage(folder: string): Promise<OpenStage> {
  let { child, port } = await startServer("0", folder);
  const way = new Way(port);
  const buffering = bufferingProxy(port);
  const works: Readonly<Record<string, () => unknown>> = {
    "/cut": () => way.cut(),
    "/down": () => way.set(false),
    "/up": () => way.set(true),
    "/kill": () => kill(child),
    "/restart": async () => ({ child } = await startServer(String(port), folder)),
    "/streams": async () => await (await fetch(`http://127.0.0.1:${port}/streams`)).text(),
  };
  const control = createHttpServer((request, response) => {
    const answer = async (): Promise<void> => {
      const found = await works[request.url ?? ""]?.();
      response.end(typeof found === "string" ? found : "");
    };
    void answer().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const [url, held, asked] = await Promise.all([way.server, buffering, control].map(addressOf));
  return {
    stage: { url: url ?? "", buffering: held ?? "", control: asked ?? "" },
    [Symbol.asyncDispose]: async () => {
      way.set(false);
      for (const server of [buffering, control]) server.closeAllConnections();
      for (const server of [way.server, buffering, control]) server.close();
      await kill(child);
    },
  };
}

async function addressOf(server: Server | TcpServer): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens
}

async function startServer(
  port: string,
  folder: string,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const file = new URL("server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [file, port, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(() => Promise.reject(new Error("the server has ended")));
  ended.catch(() => undefined); // later it is killed
  const [output] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer]; // of bytes
  return { child, port: Number(output.toString()) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** A way to a port that can be cut, and closed for a while. */
class Way {
  readonly server: TcpServer;
  readonly #sockets = new Set<Socket>();
  #isOpen = true;

  constructor(port: number) {
    this.server = createTcpServer((near) => {
      if (!this.#isOpen) return void near.destroy();
      const far = connect(port, "127.0.0.1");
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        one.on("error", () => undefined);
        one.once("close", () => {
          this.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
      return undefined;
    });
  }

  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  set(isOpen: boolean): void {
    this.#isOpen = isOpen;
    if (!isOpen) this.cut();
  }
}

/** A proxy as there are many: it sends the headers of a stream, and its body when it has all of it. */
function bufferingProxy(port: number): Server {
  return createHttpServer((request, response) => {
    const { method, url } = request;
    const headers = { ...request.headers, "x-buffered": "yes" }; // it is not counted
    const asked = httpRequest({ port, host: "127.0.0.1", method, path: url, headers });
    asked.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      if (answer.headers["content-type"]?.startsWith("text/event-stream") !== true)
        return void answer.pipe(response);
      const held: Buffer[] = [];
      answer.on("data", (bytes: Buffer) => held.push(bytes));
      answer.once("end", () => response.end(Buffer.concat(held)));
      return undefined;
    });
    asked.once("error", () => response.destroy());
    response.once("close", () => asked.destroy());
    request.pipe(asked);
  });
}
