import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { decodeCursor } from "@millrace/core/wire";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { createHub, sseSink } from "@millrace/server/hub";

const store = memorySessionStore();
const hub = createHub({ store, log: memoryEventLog(), clock: systemClock });
await store.create({ sessionId: "demo" });

async function show({ url, headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const session = await store.find(url?.slice(1) || "demo");
  if (session === undefined) return void response.writeHead(404).end();
  const cursor = decodeCursor(String(headers["last-event-id"]));
  await hub.deliver({ ...session, cursor }, sseSink(response)).catch(() => response.destroy());
}

const server = createServer((request, response) => void show(request, response));
server.listen(Number(process.env["PORT"] ?? 8080), "127.0.0.1");
server.on("listening", () => console.log(server.address()));
