/** The cost of delivering an event to many viewers: by bare `res.write`, and by a hub. Prints JSON. */
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { createHub } from "../hub/hub.ts";
import { sseSink } from "../sse/sse-sink.ts";
import { listen } from "./loopback.ts";
import { startReader } from "./reader.ts";
import { BatchProducer } from "./batch-producer.ts";
import { usedMemory } from "./used-memory.ts";

/** Of each way to deliver. The first few of them make what all of them share. */
const viewers = 1_000;
const warm = 50;
const rounds = 20;
const times = 6;

const store = memorySessionStore();
const log = memoryEventLog();
const producer = await BatchProducer.open(store, log);
using hub = createHub({ store, log, clock: systemClock });
const raw = new Set<ServerResponse>();
const sockets = new Set<Socket>();
const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

const server = createServer((request, response) => {
  if (request.url === "/hub") void hub.deliver(producer, sseSink(response));
  else {
    response.writeHead(200, headers);
    response.flushHeaders();
    raw.add(response);
    response.once("close", () => raw.delete(response));
  }
});
server.on("connection", (socket) => {
  sockets.add(socket);
});
const port = await listen(server);
const reader = startReader();

/** Waits until the reader has every byte. Not measured: it visits each connection. */
const settle = (): Promise<unknown> => {
  const bytes = [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  return reader.ask({ ask: "until", bytes });
};

/** The processor time of one event to one viewer, in microseconds of this process. */
async function cpuOf(events: number, work: () => Promise<void> | void): Promise<number> {
  let spent = 0;
  for (let time = 0; time < times; time += 1) {
    const before = process.cpuUsage();
    await work();
    await new Promise(setImmediate);
    const { user, system } = process.cpuUsage(before);
    spent += user + system;
    await settle();
  }
  return spent / (events * times * viewers);
}

const text = "x".repeat(100);
/** The bytes that the hub sends for such an event. */
const bytes = await eventBytes();
/** As the hub sends them: what a bare socket would cost. */
const chunk = Buffer.concat([
  Buffer.from(`${bytes.length.toString(16)}\r\n`),
  bytes,
  Buffer.from("\r\n"),
]);

const ways: Readonly<Record<string, () => Promise<number>>> = {
  write: () =>
    cpuOf(1, () => {
      for (const response of raw) response.write(bytes);
    }),
  hub: () => cpuOf(1, () => producer.append(text)),
  together: () =>
    cpuOf(16, async () => {
      await Promise.all(Array.from({ length: 16 }, () => producer.append(text)));
    }),
  socket: () =>
    cpuOf(1, () => {
      for (const response of raw) response.socket?.write(chunk);
    }),
};

async function eventBytes(): Promise<Uint8Array> {
  const frames = [
    Promise.withResolvers<Uint8Array>(),
    Promise.withResolvers<Uint8Array>(),
  ] as const;
  const stop = new AbortController();
  let count = 0;
  const sink = {
    bind: () => undefined,
    open: () => undefined,
    write: (bytes: Uint8Array) => {
      if (!Buffer.from(bytes).includes("id: ")) return true; // the opening
      frames[Math.min(count, 1)]?.resolve(bytes);
      count += 1;
      return true;
    },
    end: () => undefined,
  };
  const { uid, sessionId } = producer;
  const done = hub.deliver({ uid, sessionId, signal: stop.signal }, sink);
  await frames[0].promise;
  await producer.append(text);
  const event = await frames[1].promise;
  stop.abort();
  await done;
  return event;
}

/** Bytes that are in use for one idle connection. */
async function idle(path: string): Promise<number> {
  const before = usedMemory();
  await reader.ask({ ask: "open", port, path, count: viewers - warm });
  await settle();
  const after = usedMemory();
  return (after - before) / (viewers - warm);
}

await reader.ask({ ask: "open", port, path: "/raw", count: warm });
await reader.ask({ ask: "open", port, path: "/hub", count: warm });
await settle();
const memory = { raw: await idle("/raw"), hub: await idle("/hub") };

const costs: Record<string, number[]> = {};
for (let round = -1; round < rounds; round += 1) {
  for (const [way, measure] of Object.entries(ways)) {
    const cost = await measure();
    if (round >= 0) (costs[way] ??= []).push(cost);
  }
}
console.log(JSON.stringify({ bytes: bytes.length, memory, costs }));
reader.end();
server.closeAllConnections();
server.close();
