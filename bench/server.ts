/**
 * A vendor that answers any request with a prepared response, one HTTP chunk for each event, so
 * that nothing is computed while a contender is measured. Prints its port, and ends when its parent
 * closes the pipe.
 */
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { scenario } from "./scenario.ts";

const head =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
const built = new Map<string, Buffer>();

function responseFor(model: string): Buffer {
  const known = built.get(model);
  if (known !== undefined) return known;
  const chunks = scenario(model).events.map((event) => {
    const bytes = Buffer.from(event);
    return Buffer.concat([
      Buffer.from(`${bytes.length.toString(16)}\r\n`),
      bytes,
      Buffer.from("\r\n"),
    ]);
  });
  const response = Buffer.concat([Buffer.from(head), ...chunks, Buffer.from("0\r\n\r\n")]);
  built.set(model, response);
  return response;
}

function answer(socket: Socket, held: Buffer): Buffer {
  let rest = held;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return rest;
    const length = Number(
      /content-length: *(\d+)/i.exec(rest.toString("latin1", 0, end))?.[1] ?? 0,
    );
    if (rest.length < end + 4 + length) return rest;
    const body = rest.toString("utf8", end + 4, end + 4 + length);
    rest = rest.subarray(end + 4 + length);
    const model = /"model"\s*:\s*"([^"]+)"/.exec(body)?.[1] ?? "";
    socket.write(responseFor(model));
  }
}

const server = createServer((socket) => {
  let held: Buffer = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on("error", () => undefined);
  socket.on("data", (bytes: Buffer) => (held = answer(socket, Buffer.concat([held, bytes]))));
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.on("end", () => process.exit(0)).resume();
