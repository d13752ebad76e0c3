import { once } from "node:events";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import type { Agent } from "@millrace/agent";
import { createMillrace } from "@millrace/server";
import { allDialects } from "./served.ts";

/** A server behind a line that can be cut. */
export interface CutLine extends AsyncDisposable {
  readonly url: string;
  /** The next stream is cut after exactly so many events, as a cable that is pulled. */
  readonly cutAfter: (events: number) => void;
  /** Cuts all that is open now. */
  readonly cutAll: () => void;
}

/** Serves pages, and an agent below `/agent`. */
export async function openCutLine(
  agent: Agent,
  pageOf: (path: string) => string | undefined = () => undefined,
): Promise<CutLine> {
  const authenticate = () => ({ tenant: "web", user: "ann" });
  const limits = { inputsPerUser: 1e6, creationsPerUser: 1e6 };
  const millrace = createMillrace({
    agent,
    authenticate,
    basePath: "/agent",
    dialects: allDialects,
    limits,
  });
  const server = createServer((request, response) => {
    const page = pageOf(request.url ?? "");
    if (page === undefined) return millrace.node(request, response);
    response.setHeader("content-type", "text/html; charset=utf-8").end(page);
  });
  let events = Infinity;
  const open = new Set<() => void>();
  const line = createTcpServer((here) => {
    const there = connect(portOf(server), "127.0.0.1");
    const end = (): void => void (here.destroy(), there.destroy(), open.delete(end));
    open.add(end);
    here.on("error", end).on("close", end).pipe(there);
    there
      .on("error", end)
      .on("close", end)
      .on("data", (bytes: Buffer) => {
        const text = bytes.toString("latin1");
        for (const { index: at } of text.matchAll(/^data: /gm)) {
          if (events === 0) {
            events = Infinity;
            return void here.write(bytes.subarray(0, at), end);
          }
          events -= 1;
        }
        here.write(bytes);
      });
  });
  for (const each of [server, line]) await once(each.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${portOf(line)}`,
    cutAfter: (count) => (events = count),
    cutAll: () => open.forEach((end) => end()),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      line.close();
      await millrace.close({ drainMs: 0 });
    },
  };
}

function portOf(server: Pick<Server, "address">): number {
  return (server.address() as AddressInfo).port; // listening on a port, it has one
}
