import { createServer, request } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What becomes of an answer. `pass`: it arrives. A number: that many bytes of its body, then a cut. */
export type Fate = "pass" | number;

/** An HTTP proxy that loses answers, or parts of them, on their way back. The server has done its work by then. */
export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  /** How many connections were cut. */
  readonly cuts: () => number;
}

export interface FaultProxyOptions {
  /** The server's address, asked for each request. */
  readonly to: () => string;
  readonly decide: () => Fate;
  /** Called with the body of an answer as JSON that is wholly lost. */
  readonly onLost?: ((key: string, body: string) => void) | undefined;
}

/** Opens a proxy. A body is passed as it comes; one that is lost is read to its end first. */
export async function openFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  let cuts = 0;
  const cut = (response: ServerResponse): void => {
    if (response.destroyed) return;
    cuts += 1;
    response.destroy();
  };
  const lose = (
    asked: IncomingMessage,
    answer: IncomingMessage,
    response: ServerResponse,
  ): void => {
    const chunks: Buffer[] = [];
    answer.on("data", (chunk: Buffer) => chunks.push(chunk));
    answer.once("end", () => {
      const key = String(asked.headers["idempotency-key"]);
      options.onLost?.(key, Buffer.concat(chunks).toString());
      cut(response);
    });
  };
  const pass = (answer: IncomingMessage, response: ServerResponse, bytes: number): void => {
    let left = bytes;
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.on("data", (chunk: Buffer) => {
      if (response.destroyed || left <= 0) return;
      response.write(chunk.subarray(0, left), () => {
        if (left <= 0) cut(response);
      });
      left -= chunk.length;
    });
    answer.once("end", () => response.end());
  };
  const server = createServer((asked, response) => {
    const { method, headers, url: path } = asked;
    const sent = request(`${options.to()}${path}`, { method, headers, agent: false }, (answer) => {
      const fate = options.decide();
      if (fate === 0) lose(asked, answer, response);
      else pass(answer, response, fate === "pass" ? Infinity : fate);
      answer.on("error", () => response.destroy());
    });
    sent.on("error", () => response.destroy());
    response.once("close", () => sent.destroy());
    asked.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  return {
    url: `http://127.0.0.1:${port}`,
    cuts: () => cuts,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
