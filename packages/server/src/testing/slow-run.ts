/**
 * Two thousand viewers of one session, and now and then a few among them that do not read. Prints
 * JSON: how long an event takes to the last hundredth of the viewers with and without those, what a
 * viewer holds, and what the ones that do not read show in the end.
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
import { Studio } from "./studio.ts";
import { usedMemory } from "./used-memory.ts";

const viewers = 2_000;
const deaf = 10;
/** Rounds go on while the machine's own noise is more than what is looked for. */
const fewestRounds = 10;
const mostRounds = 40;
const eventsPerRound = 5;
const chunk = "y".repeat(8_000);
/** More than a machine holds for a connection that is not read. */
const longItem = 8_000_000;

const store = memorySessionStore();
const log = memoryEventLog({ batchesPerLane: 64 });
const studio = await Studio.open(store, log, { length: longItem });
using hub = createHub({ store, log, clock: systemClock, keptMessages: 64 });
const reading = new Set<Socket>();
const stuck = new Set<Socket>();

const server = createServer((request, response) => {
  const { "last-event-id": id } = request.headers;
  const cursor = typeof id === "string" ? decodeCursor(id) : undefined;
  const set = request.url === "/deaf" ? stuck : reading;
  set.add(request.socket);
  response.once("close", () => set.delete(request.socket));
  const { uid, sessionId } = studio;
  void hub.deliver({ uid, sessionId, cursor }, sseSink(response));
});
const port = await listen(server);
const reader = startReader();
let text = "";

async function say(words: string): Promise<void> {
  text += words;
  await studio.say(words);
  await new Promise(setImmediate);
}

async function settle(): Promise<void> {
  const bytes = [...reading].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  await reader.ask({ ask: "until", bytes });
}

/** They get the whole item, which is more than their sockets take. */
async function openDeaf(): Promise<void> {
  await reader.ask({ ask: "open", port, path: "/deaf", count: deaf, deaf: true });
  await until(() => stuck.size === deaf && [...stuck].every((socket) => socket.writableNeedDrain));
}

async function closeDeaf(): Promise<void> {
  await reader.ask({ ask: "close", path: "/deaf" });
  await until(() => stuck.size === 0);
}

async function until(condition: () => boolean): Promise<void> {
  for (let round = 0; !condition(); round += 1) {
    if (round > 3_000) throw new Error("it never came to be");
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

/** For each event: the time that 99 in 100 viewers had it by, in milliseconds. */
async function latencies(): Promise<readonly number[]> {
  for (let event = 0; event < eventsPerRound; event += 1) {
    await say(`@${process.hrtime.bigint()};`);
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
const cursor = encodeCursor({ uid: studio.uid, head: studio.head, lanes });
// The first one makes the room, which all of them share.
await reader.ask({ ask: "open", port, path: "/first", count: 1, cursor });
const empty = usedMemory();
await reader.ask({ ask: "open", port, path: "/", count: viewers - 1, cursor });
await settle();
const perViewer = (usedMemory() - empty) / (viewers - 1);

await latencies();
const control: number[] = [];
const withDeaf: number[] = [];
const isClear = (): boolean => quantile(withDeaf, 0.1) < quantile(control, 0.1) * 1.05;
for (let round = 0; round < fewestRounds || (round < mostRounds && !isClear()); round += 1) {
  if (round > 0) await closeDeaf();
  globalThis.gc?.();
  control.push(...(await latencies()));
  await openDeaf();
  globalThis.gc?.();
  withDeaf.push(...(await latencies()));
}
await reader.ask({ ask: "close", path: "/" });
await until(() => reading.size === 1);

/** What is said while they do not read, a megabyte each time, and what is held after it. */
const held: number[] = [];
for (let phase = 0; phase < 3; phase += 1) {
  for (let event = 0; event < 125; event += 1) await say(chunk);
  await settle();
  held.push(usedMemory());
}
const shown = (await reader.ask({
  ask: "hear",
  path: "/deaf",
  length: text.length,
})) as readonly string[];
const right = shown.filter((one) => one === text).length;
console.log(JSON.stringify({ perViewer, control, withDeaf, held, deaf, right }));
reader.end();
server.closeAllConnections();
server.close();
