/**
 * Two thousand viewers of one session, with and without a few stalled ones, which do not read. Prints
 * JSON: the p99 latency of events with and without the stalled viewers, the memory of a viewer, and
 * how many stalled viewers show the whole text after they read.
 */
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { packEpoch } from "@millrace/core/ports";
import { decodeCursor, encodeCursor } from "@millrace/core/wire";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { createHub } from "../hub/hub.ts";
import { sseSink } from "../sse/sse-sink.ts";
import { listen } from "./loopback.ts";
import { quantile } from "./program.ts";
import { startReader } from "./reader.ts";
import { BatchProducer } from "./batch-producer.ts";
import { usedMemory } from "./used-memory.ts";

const viewers = 2_000;
const stalled = 10;
/** Rounds go on while the machine's noise exceeds the difference that is looked for. */
const fewestRounds = 10;
const mostRounds = 40;
const eventsPerRound = 5;
const text8k = "y".repeat(8_000);
/** More than the kernel buffers for a connection that is not read. */
const longItem = 8_000_000;

const store = memorySessionStore();
const log = memoryEventLog({ batchesPerLane: 64 });
const producer = await BatchProducer.open(store, log, { length: longItem });
using hub = createHub({ store, log, clock: systemClock, keptMessages: 64 });
const reading = new Set<Socket>();
const stuck = new Set<Socket>();

const server = createServer((request, response) => {
  const { "last-event-id": id } = request.headers;
  const cursor = typeof id === "string" ? decodeCursor(id) : undefined;
  const set = request.url === "/stalled" ? stuck : reading;
  set.add(request.socket);
  response.once("close", () => set.delete(request.socket));
  const { uid, sessionId } = producer;
  void hub.deliver({ uid, sessionId, cursor }, sseSink(response));
});
const port = await listen(server);
const reader = startReader();
let text = "";

async function append(chunk: string): Promise<void> {
  text += chunk;
  await producer.append(chunk);
  await new Promise(setImmediate);
}

async function settle(): Promise<void> {
  const bytes = [...reading].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  await reader.ask({ ask: "until", bytes });
}

/** Each gets the whole item, which is more than its socket takes. */
async function openStalled(): Promise<void> {
  await reader.ask({ ask: "open", port, path: "/stalled", count: stalled, stalled: true });
  await until(
    () => stuck.size === stalled && [...stuck].every((socket) => socket.writableNeedDrain),
  );
}

async function closeStalled(): Promise<void> {
  await reader.ask({ ask: "close", path: "/stalled" });
  await until(() => stuck.size === 0);
}

async function until(condition: () => boolean): Promise<void> {
  for (let round = 0; !condition(); round += 1) {
    if (round > 3_000) throw new Error("timed out");
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

/** For each event: the time that 99 in 100 viewers had it by, in milliseconds. */
async function latencies(): Promise<readonly number[]> {
  for (let event = 0; event < eventsPerRound; event += 1) {
    await append(`@${process.hrtime.bigint()};`);
    await settle();
  }
  const times = (await reader.ask({ ask: "times" })) as readonly (readonly number[])[];
  return times.map((took) => {
    const last = took.toSorted((left, right) => left - right)[Math.ceil(took.length * 0.99) - 1];
    return (last ?? NaN) / 1e6;
  });
}

const lanes = [
  { lane: 0, epoch: packEpoch({ incarnation: 1, generation: 2, attempt: 1 }), seq: 1 },
];
const cursor = encodeCursor({ uid: producer.uid, head: producer.head, lanes });
// The first one makes the room, which all of them share.
await reader.ask({ ask: "open", port, path: "/first", count: 1, cursor });
const empty = usedMemory();
await reader.ask({ ask: "open", port, path: "/", count: viewers - 1, cursor });
await settle();
const perViewer = (usedMemory() - empty) / (viewers - 1);

await latencies();
const control: number[] = [];
const withStalled: number[] = [];
const isClear = (): boolean => quantile(withStalled, 0.1) < quantile(control, 0.1) * 1.05;
for (let round = 0; round < fewestRounds || (round < mostRounds && !isClear()); round += 1) {
  if (round > 0) await closeStalled();
  globalThis.gc?.();
  control.push(...(await latencies()));
  await openStalled();
  globalThis.gc?.();
  withStalled.push(...(await latencies()));
}
await reader.ask({ ask: "close", path: "/" });
await until(() => reading.size === 1);

/** The bytes in use after each further megabyte that the stalled viewers do not read. */
const held: number[] = [];
for (let phase = 0; phase < 3; phase += 1) {
  for (let event = 0; event < 125; event += 1) await append(text8k);
  await settle();
  held.push(usedMemory());
}
const shown = (await reader.ask({
  ask: "resume",
  port,
  path: "/stalled",
  length: text.length,
})) as readonly string[];
const right = shown.filter((one) => one === text).length;
console.log(JSON.stringify({ perViewer, control, withStalled, held, stalled, right }));
reader.end();
server.closeAllConnections();
server.close();
