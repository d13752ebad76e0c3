import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { defineAgent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { SessionStore } from "@millrace/core/ports";
import { say, scriptedModel } from "@millrace/core/testing";
import { createMillrace } from "@millrace/server";
import type { Millrace, MillraceOptions } from "@millrace/server";

/** A server in this process, over memory, on bare Node. */
export interface MemoryServer extends AsyncDisposable {
  readonly url: string;
  readonly millrace: Millrace;
  /** What the tenant of all its users has. It outlives the server, if it is passed to the next. */
  readonly store: SessionStore;
  /** The connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
}

export interface MemoryServerOptions extends Omit<Partial<MillraceOptions>, "store"> {
  readonly store?: SessionStore | undefined;
  /** What its model answers to every prompt, in chunks of 16 KiB. */
  readonly reply?: string | undefined;
  /** Pages of the same origin by path, as HTML. The server's own routes are below `/agent` then. */
  readonly pages?: Readonly<Record<string, string>> | undefined;
  /** Left out: a free one. */
  readonly port?: number | undefined;
}

/** Starts a server. A bearer's token is the user's name, and so is the cookie `user`. */
export async function startMemoryServer(options: MemoryServerOptions = {}): Promise<MemoryServer> {
  const {
    store = memorySessionStore(),
    port = 0,
    pages,
    reply = "0123456789abcdef",
    ...others
  } = options;
  const model: Model = {
    id: "writer",
    stream: (request) =>
      scriptedModel([[say(reply)]], { delayMs: 1, chunk: [16_384] }).stream(request),
  };
  const millrace = createMillrace({
    agent: defineAgent({ name: "writer", model }),
    authenticate: ({ headers }) => {
      const [, bearer] = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "") ?? [];
      const [, cookie] = /(?:^|; )user=([^;]+)/.exec(headers.get("cookie") ?? "") ?? [];
      const user = bearer ?? cookie;
      return user === undefined ? undefined : { tenant: "web", user };
    },
    store: () => store,
    log: memoryEventLog(),
    basePath: pages === undefined ? "" : "/agent",
    ...others,
  });
  const server = createServer((request, response) => {
    const page = pages?.[request.url ?? ""];
    if (page === undefined) return millrace.node(request, response);
    response.setHeader("content-type", "text/html; charset=utf-8").end(page);
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: bound } = server.address() as AddressInfo; // listening on a port, it has one
  return {
    url: `http://127.0.0.1:${bound}`,
    millrace,
    store,
    sockets,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await millrace[Symbol.asyncDispose]();
    },
  };
}
