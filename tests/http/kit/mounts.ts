import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import type { Millrace } from "@millrace/server";

/** How an application carries the handler. */
export type MountName = "hono" | "next" | "express" | "fastify" | "node" | "http2";

/** A mounted handler that listens. */
export interface Mounted extends AsyncDisposable {
  readonly url: string;
}

/** Where each mount puts the handler. Next does not strip its mount: the handler gets `basePath`. */
export const prefixOf: Readonly<Record<MountName, string>> = {
  hono: "/agent",
  next: "/api/agent",
  express: "/agent",
  fastify: "/agent",
  node: "",
  http2: "",
};

/** Mounts a handler on a free port of this machine. */
export async function mount(name: MountName, millrace: Millrace): Promise<Mounted> {
  const server = name === "http2" ? overHttp2(millrace) : await servers[name](millrace);
  if (!server.listening) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${prefixOf[name]}`,
    [Symbol.asyncDispose]: async () => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

const servers: Readonly<
  Record<Exclude<MountName, "http2">, (millrace: Millrace) => Server | Promise<Server>>
> = {
  node: ({ node }) => createServer(node),
  hono: ({ fetch }) => {
    const app = new Hono().mount(prefixOf.hono, fetch);
    const listener = getRequestListener(app.fetch);
    return createServer((request, response) => void listener(request, response));
  },
  // A route handler: `export const GET = millrace.fetch`, and so for each verb.
  next: ({ fetch }) => createServer((request, response) => void bridge(fetch, request, response)),
  express: ({ node }) => createServer(express().use(prefixOf.express, node)),
  fastify: async ({ node }) => {
    const app = Fastify({
      // An address that it can't decode is the handler's to refuse.
      frameworkErrors: (_error, request, reply) => pass(request.raw, reply),
    });
    const pass = (raw: IncomingMessage, reply: Hijacked): void => {
      reply.hijack();
      raw.url = (raw.url ?? "").slice(prefixOf.fastify.length);
      node(raw, reply.raw);
    };
    // The body stays with the handler, whatever its type.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    app.all(`${prefixOf.fastify}/*`, (request, reply) => pass(request.raw, reply));
    await app.listen({ port: 0, host: "127.0.0.1" });
    return app.server;
  },
};

/** A reply that Fastify leaves alone. */
interface Hijacked {
  readonly raw: ServerResponse;
  readonly hijack: () => unknown;
}

function overHttp2({ node }: Millrace): Http2Server {
  // The compatibility API has the methods of `node:http`, not its types.
  const listener = node as unknown as Parameters<Http2Server["on"]>[1];
  return createHttp2Server().on("request", listener);
}

/** What a host of the web's API does with a connection, in its smallest form. */
async function bridge(
  fetch: Millrace["fetch"],
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { method = "GET", url = "/", headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : null;
  const request = new Request(`http://${headers.host}${url}`, {
    method,
    headers: headersOf(incoming),
    body,
    signal: gone.signal,
    duplex: "half",
  } as RequestInit);
  const answer = await fetch(request);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) return void response.end();
  const read = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
  response.once("close", () => read.destroy());
  read.on("error", () => response.destroy()).pipe(response);
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}
