import { createSecureServer } from "node:http2";
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { PeerCertificate, TLSSocket } from "node:tls";
import type { Authority, Certificate } from "./certificates.ts";

/** One request that a TLS server got. */
export interface TlsRequest {
  /** What client and server agreed on: `h2` or `http/1.1`. */
  readonly alpn: string;
  readonly path: string;
  /** The common name of the client's certificate, if it has one. */
  readonly client: string | undefined;
  /** The number of its connection, from 1. */
  readonly connection: number;
}

/** A server with a private authority, over HTTP/1.1 and HTTP/2. */
export interface TlsServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly TlsRequest[];
  readonly openSockets: () => number;
  /** Closes every connection at once. */
  readonly cut: () => void;
}

/** How a TLS server answers, and whom. */
export interface TlsServerOptions {
  readonly own: Certificate;
  /** Clients need a certificate of this authority. */
  readonly clients?: Authority | undefined;
  readonly answer: (response: Http2ServerResponse, path: string) => void;
}

/** Starts a server that streams over TLS. */
export async function startTlsServer(options: TlsServerOptions): Promise<TlsServer> {
  const { own, clients, answer } = options;
  const sockets = new Map<Socket, number>();
  const requests: TlsRequest[] = [];
  let connections = 0;
  const server: Http2SecureServer = createSecureServer({
    ...own,
    allowHTTP1: true,
    ...(clients === undefined ? {} : { ca: clients.cert, requestCert: true }),
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    connections += 1;
    sockets.set(socket, connections);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  });
  server.on("sessionError", () => undefined).on("tlsClientError", () => undefined);
  server.on("request", (request: Http2ServerRequest, response: Http2ServerResponse) => {
    // Of HTTP/2 this is a proxy of the socket, which has its fields but is another object.
    const socket =
      (request.stream as { session?: { socket: TLSSocket } } | undefined)?.session?.socket ??
      (request.socket as TLSSocket);
    const port = socket.remotePort;
    const [, connection = 0] = [...sockets].find(([each]) => each.remotePort === port) ?? [];
    requests.push({
      alpn: String(socket.alpnProtocol),
      path: request.url,
      client: clientOf(socket),
      connection,
    });
    request
      .resume()
      .on("end", () => answer(response, request.url))
      .on("error", () => undefined);
    response.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const cut = (): void => {
    for (const socket of sockets.keys()) socket.destroy();
  };
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    openSockets: () => sockets.size,
    cut,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}

function clientOf(socket: TLSSocket): string | undefined {
  // Null once the socket is closed, which its type leaves out.
  const certificate = socket.getPeerCertificate() as PeerCertificate | null;
  const name = certificate?.subject?.CN;
  return typeof name === "string" ? name : undefined;
}
