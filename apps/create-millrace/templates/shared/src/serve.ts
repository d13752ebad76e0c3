// Sessions of the agent over HTTP, below /agent: how the server starts, and how it ends.
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { createMillrace } from "@millrace/server";
import type { Authenticate, Millrace } from "@millrace/server";
import { agent } from "./agent.ts";
import { openServices } from "./services.ts";

/** While it is developed nobody waits for a restart. */
const defaultDrainMs = process.argv.includes("--dev") ? 0 : 5_000;

/** What all users together may spend on models in a day. Beyond it runs end, and prompts are refused with 429. */
const dollarsPerDay = Number(process.env.SPEND_PER_DAY || "20");

/** The server's type, by which clients know the tools. */
export type Served = Millrace<typeof agent>;

/** How people sign in. */
export interface SignIn {
  /** Finds out whom a request acts for. Left out: this machine alone, with a token that is printed once. */
  readonly authenticate?: Authenticate | undefined;
  /** Answers requests to sign in and out, and adds cookies to others. True: it was such a request. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface ServeOptions {
  readonly signIn: SignIn;
  /** Names by which the server is reached. Left out: any. */
  readonly hosts?: readonly string[] | undefined;
  /** 0: a free one. */
  readonly port: number;
  /** Left out: only this machine can connect. */
  readonly host?: string | undefined;
  /** Another agent, for tests. */
  readonly agent?: typeof agent | undefined;
  /** Makes what answers requests outside /agent. */
  readonly page?: ((server: Server) => Promise<RequestListener>) | undefined;
}

export async function serve(options: ServeOptions) {
  const { signIn, hosts, port, host = "127.0.0.1" } = options;
  const services = await openServices();
  const millrace: Served = createMillrace({
    agent: options.agent ?? agent,
    basePath: "/agent",
    dialects: [aiSdk()], // for pages with useChat; beside it agUi() and openai() of the same package
    authenticate: signIn.authenticate,
    hosts,
    limits: { spendPerTenant: dollarsPerDay * 1_000_000 },
    ...services.options,
  });
  const server = createServer();
  const page = await options.page?.(server);
  const answer: RequestListener = (request, response) => {
    if (request.url?.startsWith("/agent/")) return millrace.node(request, response);
    if (signIn.answer?.(request, response)) return;
    if (page !== undefined) return page(request, response);
    response.writeHead(404).end("not found");
  };
  server.on("request", (request, response) => guard(request, response, answer));
  server.listen(port, host);
  await once(server, "listening");
  const { port: listensOn } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${listensOn}`,
    /** Drains: streams end, so that clients go on elsewhere, and runs are handed over. */
    close: async (drainMs = defaultDrainMs) => {
      await millrace.close({ drainMs });
      server.close();
      server.closeAllConnections();
      await services.close();
    },
  };
}

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

/** Closes on Ctrl-C and on SIGTERM, which containers and `node --watch` send. */
export function closeOnSignals(close: () => Promise<void>): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void close().then(() => process.exit(0)));
}
