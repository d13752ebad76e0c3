/**
 * A crowd of connections to many sessions in one process, one in twenty of which does not read, while every
 * session is written to. Prints JSON: the bytes of a connection in use and resident, how many readers have
 * every text, and how the stalled ones ended. The number of connections is the first argument.
 */
import { createServer } from "node:http";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { createHub } from "../hub/hub.ts";
import { sseSink } from "../sse/sse-sink.ts";
import { BatchProducer } from "./batch-producer.ts";
import { listen } from "./loopback.ts";
import { startReader } from "./reader.ts";
import { usedMemory } from "./used-memory.ts";

const connections = Number(process.argv[2] ?? 500);
const stalled = connections / 20;
const viewersOfEach = 20;
const rounds = 10;

const store = memorySessionStore();
const log = memoryEventLog({ batchesPerLane: 64 });
using hub = createHub({ store, log });
const producers: BatchProducer[] = [];
for (let session = 0; session < connections / viewersOfEach; session += 1)
  producers.push(
    await BatchProducer.open(store, log, { name: `session ${session}`, length: 2_000 }),
  );

const written = new Map<string, number>();
let closed = 0;
let next = 0;
const server = createServer((request, response) => {
  const producer = producers[next % producers.length];
  next += 1;
  if (producer === undefined) throw new TypeError("no session");
  response.once("close", () => {
    closed += 1;
  });
  const { socket } = request;
  const path = request.url ?? "";
  const count = (): void => void written.set(path, (written.get(path) ?? 0) + socket.bytesWritten);
  counters.push(count);
  void hub.deliver(producer, sseSink(response));
});
const counters: (() => void)[] = [];
const port = await listen(server);
const reader = startReader();

/** Waits until readers have every byte that was written to them. */
async function settle(): Promise<void> {
  await new Promise((wake) => setTimeout(wake, 50));
  written.clear();
  for (const count of counters) count();
  await reader.ask({ ask: "until", bytes: written.get("/reading") ?? 0 });
}

// What all share is made before anything is measured.
await reader.ask({ ask: "open", port, path: "/reading", count: producers.length });
await settle();
const before = { used: usedMemory(), resident: process.memoryUsage.rss() };
const added = connections - producers.length;
await reader.ask({ ask: "open", port, path: "/reading", count: added - stalled });
await reader.ask({ ask: "open", port, path: "/stalled", count: stalled, stalled: true });
await settle();
for (let round = 0; round < rounds; round += 1) {
  for (const producer of producers) await producer.append("z".repeat(200));
  await settle();
}
const after = { used: usedMemory(), resident: process.memoryUsage.rss() };
console.log(
  JSON.stringify({
    connections,
    stalled,
    used: (after.used - before.used) / added,
    resident: (after.resident - before.resident) / added,
    open: hub.streams(),
    closed,
  }),
);
reader.end();
server.closeAllConnections();
server.close();
