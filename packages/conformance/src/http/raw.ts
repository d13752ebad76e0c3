import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../case.ts";

/** Bytes for a socket, with pauses in milliseconds between them. `null` hangs up. */
export type RawScript = readonly (string | number | null)[];

/**
 * Writes to a socket of its own and resolves to all that came back when the server closed it, or to what
 * came until `until` matched. For requests that no HTTP client would send.
 */
export async function rawExchange(url: string, script: RawScript, until?: RegExp): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = "";
  const over = new Promise<string>((resolve) => {
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      received += text;
      if (until?.test(received) === true) socket.destroy();
    });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => resolve(received));
  });
  for (const piece of script) {
    if (socket.destroyed) break;
    if (typeof piece === "number") await sleep(piece);
    else if (piece === null) socket.destroy();
    else socket.write(piece);
  }
  try {
    return await within(over, `the server closes the socket or answers, after ${received}`);
  } finally {
    socket.destroy();
  }
}

/** The status of a raw answer, or 0. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

/** A request as it goes over a socket. The connection is closed after its answer. */
export function requestText(
  url: string,
  method: string,
  path: string,
  { body, headers }: { readonly body: object; readonly headers: Readonly<Record<string, string>> },
): string {
  const { pathname, host } = new URL(url);
  const text = JSON.stringify(body);
  const fields = {
    host,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname.replace(/\/$/, "")}${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`;
}

/** Sends a request and takes exactly so many bytes of its answer, then cuts the connection. */
export async function receiveBytes(url: string, request: string, count: number): Promise<string> {
  const { hostname, port } = new URL(url);
  let received = "";
  // No byte more than is wanted leaves the system's buffer.
  const buffer = (): Buffer => Buffer.alloc(Math.min(65_536, count - received.length));
  const socket = connect({
    host: hostname,
    port: Number(port),
    onread: {
      buffer,
      callback: (size, bytes) => {
        received += Buffer.from(bytes.subarray(0, size)).toString("latin1");
        if (received.length >= count) socket.resetAndDestroy();
        return true;
      },
    },
  });
  const over = new Promise<string>((resolve) => {
    socket.on("error", () => socket.destroy());
    socket.once("close", () => resolve(received));
  });
  socket.write(request);
  try {
    return await within(over, `${count} bytes come, after ${received.length}`);
  } finally {
    socket.destroy();
  }
}
