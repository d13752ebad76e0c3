import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { postgresStore } from "./postgres-store.ts";

/** A message of PostgreSQL's protocol. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const fields = "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
/** The login is accepted, the server is ready, and it ends the connection, all in one packet. */
const greeting = Buffer.concat([
  message("R", Buffer.alloc(4)),
  message("Z", Buffer.from("I")),
  message("E", Buffer.from(fields)),
]);

it("a server that ends a connection as soon as it is made rejects the call, and throws nowhere else", async () => {
  const stray: unknown[] = [];
  const onStray = (error: unknown): void => void stray.push(error);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(greeting));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // listening on a port, it has one
  process.prependListener("uncaughtException", onStray);
  try {
    await using store = postgresStore({ url: `postgres://user:word@127.0.0.1:${port}/db` });

    await expect(store.find("any")).rejects.toThrow(/terminat|connection/i);
    expect(stray).toEqual([]);
  } finally {
    process.removeListener("uncaughtException", onStray);
    server.close();
  }
});
