import { createServer, request as ask } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Certificate } from "./certificates.ts";

/** What a forward proxy asks for, and what it refuses. */
export interface ForwardProxyOptions {
  /** `user:password`, without which it answers 407. */
  readonly login?: string | undefined;
  /** The status of every answer to CONNECT. `hang`: none. `end`: the connection is closed. */
  readonly refuse?: number | "hang" | "end" | undefined;
  /** Speaks TLS to its clients. */
  readonly secure?: Certificate | undefined;
}

/** A forward proxy on this machine. */
export interface ForwardProxy extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The targets of its tunnels, in order. */
  readonly tunnels: readonly string[];
  /** The addresses of requests in absolute form, in order. */
  readonly passed: readonly string[];
  /** Bytes that came back through its tunnels and passed requests. */
  readonly bytesBack: () => number;
  /** Bytes of tunnels, to both sides. */
  readonly tunnelled: () => Buffer;
}

/** Starts a forward proxy (RFC 9110, 9.3.6; RFC 9112, 3.2.2): CONNECT, and requests in absolute form. */
export async function startForwardProxy(options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const { login, refuse, secure } = options;
  const proof = login === undefined ? undefined : `Basic ${Buffer.from(login).toString("base64")}`;
  const isWelcome = (request: IncomingMessage): boolean =>
    proof === undefined || request.headers["proxy-authorization"] === proof;
  const sockets = new Set<Duplex>();
  const tunnels: string[] = [];
  const passed: string[] = [];
  const seen: Buffer[] = [];
  let bytesBack = 0;
  const keep = (socket: Duplex): void => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  };

  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    if (!isWelcome(request)) return void response.writeHead(407).end("login, please");
    passed.push(request.url ?? "");
    const { "proxy-authorization": _, ...headers } = request.headers;
    const target = ask(request.url ?? "", { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("data", (bytes: Buffer) => (bytesBack += bytes.length));
      answer.pipe(response);
    });
    target.on("error", () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    request.pipe(target);
  };

  const tunnel = (request: IncomingMessage, socket: Duplex, first: Buffer): void => {
    keep(socket);
    if (!isWelcome(request))
      return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    tunnels.push(request.url ?? "");
    if (refuse === "hang") return;
    if (refuse === "end") return void socket.destroy();
    if (refuse !== undefined) return void socket.end(`HTTP/1.1 ${refuse} No\r\n\r\n`);
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      target.write(first);
      target.on("data", (bytes: Buffer) => {
        bytesBack += bytes.length;
        seen.push(bytes);
      });
      socket.on("data", (bytes: Buffer) => seen.push(bytes));
      socket.pipe(target).pipe(socket);
    });
    keep(target);
    target.on("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    socket.on("close", () => target.destroy());
    target.on("close", () => socket.destroy());
  };

  const server = secure === undefined ? createServer(pass) : createSecureServer(secure, pass);
  server.on("connect", tunnel).on("connection", (socket: Socket) => keep(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${secure === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    tunnels,
    passed,
    bytesBack: () => bytesBack,
    tunnelled: () => Buffer.concat(seen),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
