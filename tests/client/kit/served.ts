import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Agent } from "@millrace/agent";
import { createMillrace } from "@millrace/server";
import type { Millrace, MillraceOptions } from "@millrace/server";

/** A server of sessions on a free port of this machine. */
export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly millrace: Millrace;
  /** Ends all connections at once, as a cable that is pulled. */
  readonly cut: () => void;
  /** How many event streams are open. */
  readonly streams: () => number;
  /** The lines of requests: method, path and status. */
  readonly requests: readonly string[];
}

/** Serves an agent. The token of a request is the name of its user. */
export async function serve(agent: Agent, options: Partial<MillraceOptions> = {}): Promise<Served> {
  const millrace = createMillrace({
    agent,
    authenticate: ({ headers }) => {
      const [, user] = /^Bearer (\w+)$/.exec(headers.get("authorization") ?? "") ?? [];
      return user === undefined || user === "expired" ? undefined : { tenant: "acme", user };
    },
    secret: "the servers of these tests share it",
    ...options,
  });
  const requests: string[] = [];
  let streams = 0;
  const server = createServer((request, response) => {
    const { method, url } = request;
    if (url?.endsWith("/v1/events") === true) {
      streams += 1;
      response.once("close", () => (streams -= 1));
    }
    response.once("close", () => requests.push(`${method} ${url} ${response.statusCode}`));
    millrace.node(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  return {
    url: `http://127.0.0.1:${port}`,
    millrace,
    cut: () => server.closeAllConnections(),
    streams: () => streams,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await millrace.close({ drainMs: 0 });
    },
  };
}
