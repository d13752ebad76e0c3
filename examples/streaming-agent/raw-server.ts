// A server made of a bare socket: it reads one request on each connection and sends lines of text, one
// after the other, cut where a network might cut them.
import { once } from "node:events";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as later } from "node:timers/promises";

export interface RawServer extends AsyncDisposable {
  readonly url: string;
  /** The bodies of the requests, in order. */
  readonly requests: readonly string[];
}

/** What is sent for one request: a status, and the lines of a body. */
export interface RawReply {
  readonly status?: string;
  readonly lines: readonly string[];
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}`;
const chunk = (delta: object, finish: string | null = null): string =>
  data({ choices: [{ delta, finish_reason: finish }] });

/** Text in pieces, to its end. */
export function textLines(...pieces: readonly string[]): readonly string[] {
  return [...pieces.map((content) => chunk({ content })), chunk({}, "stop"), "data: [DONE]"];
}

/** A call: the first line has its id and name, the others pieces of its arguments. */
export function callLines(name: string, ...pieces: readonly string[]): readonly string[] {
  const call = { index: 0, id: `call_${name}`, function: { name, arguments: "" } };
  const rest = pieces.map((text) =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
  );
  return [chunk({ tool_calls: [call] }), ...rest, chunk({}, "tool_calls"), "data: [DONE]"];
}

export async function startRawServer(replies: readonly RawReply[]): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    let received = "";
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      received += text;
      const body = bodyOf(received);
      if (body === undefined) return;
      received = "";
      requests.push(body);
      void send(socket, replies[requests.length - 1]);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** The body of a request, once all of it is there. */
function bodyOf(received: string): string | undefined {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
  const body = received.slice(head + 4);
  return Buffer.byteLength(body) < length ? undefined : body;
}

async function send(socket: Socket, reply: RawReply | undefined): Promise<void> {
  const { status = "200 OK", lines } = reply ?? { status: "500 Nothing Left", lines: [] };
  const type = status.startsWith("200") ? "text/event-stream" : "text/plain";
  socket.write(`HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`);
  for (const line of lines) {
    // In the middle of a line, so that whoever reads must wait for the rest of it.
    const half = Math.ceil(line.length / 2);
    socket.write(line.slice(0, half));
    await later(2);
    socket.write(`${line.slice(half)}\n\n`);
  }
  socket.end();
}
