import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Agent, SessionInfo } from "@millrace/agent";
import { createMillrace } from "@millrace/server";
import type { MillraceOptions } from "@millrace/server";
import type { ChatConfig } from "../shared.ts";
import { pageFiles } from "./page-files.ts";

export interface ServeOptions {
  readonly agent: (session: SessionInfo) => Agent;
  readonly config: ChatConfig;
  /** The folder of the built page. */
  readonly page: string;
  /** 0: a free one. */
  readonly port: number;
  readonly services?:
    | Pick<MillraceOptions, "store" | "log" | "blobs" | "driver" | "limits">
    | undefined;
}

/** The running app. */
export interface ServedChat extends AsyncDisposable {
  readonly url: string;
  /** What browsers have reported that the page's policy kept from happening: 0 while nothing slips through. */
  readonly policyReports: () => number;
}

/**
 * What the page may load and run, should text of a model ever be more than text: only what this server
 * sends. Images are the page's own copies of files, and no host but this one is asked for any.
 */
const policy = [
  "default-src 'self'",
  "img-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "report-uri /policy-report",
].join("; ");

const pageHeaders = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

// A real application knows its users. Here a browser is one, by a cookie that only this server reads.
const cookie = /(?:^|; )guest=([\w-]{36})(?:;|$)/;
/** Nothing is served under a foreign name that resolves to this machine. */
const hosts = ["127.0.0.1", "localhost"];

/** No request ends the process: a target that is no address is answered with 400, and what throws with 500. */
function guard(request: IncomingMessage, response: ServerResponse, answer: RequestListener): void {
  try {
    if (URL.canParse(request.url ?? "/", "http://localhost")) return answer(request, response);
    response.writeHead(400).end("bad request");
  } catch (error) {
    console.error(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end("the server failed");
  }
}

/** Serves the page and the sessions of one agent on this machine. */
export async function serveChat(options: ServeOptions): Promise<ServedChat> {
  let reports = 0;
  const serveFile = pageFiles(options.page);
  const millrace = createMillrace({
    agent: options.agent,
    basePath: "/agent",
    hosts,
    authenticate: ({ headers }) => {
      const user = cookie.exec(headers.get("cookie") ?? "")?.[1];
      return user === undefined ? undefined : { tenant: "chat", user };
    },
    ...options.services,
  });
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = "/", headers, method } = request;
    if (url.startsWith("/agent/")) return millrace.node(request, response);
    if (!hosts.includes((headers.host ?? "").replace(/:\d+$/, "")))
      return void response.writeHead(421).end("another host");
    for (const [name, value] of Object.entries(pageHeaders)) response.setHeader(name, value);
    if (url === "/policy-report" && method === "POST") {
      reports += 1;
      request.resume();
      return void response.writeHead(204).end();
    }
    if (url === "/config.json") {
      response.setHeader("content-type", "application/json");
      return void response.end(JSON.stringify(options.config));
    }
    if (!cookie.test(headers.cookie ?? "") && headers["sec-fetch-dest"] === "document") {
      const guest = `guest=${crypto.randomUUID()}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`;
      response.setHeader("set-cookie", guest);
    }
    serveFile(request, response);
  };
  const server = createServer((request, response) => guard(request, response, answer));
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a port, not of a path
  return {
    url: `http://127.0.0.1:${port}`,
    policyReports: () => reports,
    [Symbol.asyncDispose]: async () => {
      await millrace.close({ drainMs: 1_000 });
      server.closeAllConnections();
      server.close();
    },
  };
}
