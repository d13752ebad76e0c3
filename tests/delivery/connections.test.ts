import { createServer } from "node:http";
import { packEpoch } from "@millrace/core/ports";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { decodeCursor, encodeCursor } from "@millrace/core/wire";
import type { SessionUid } from "@millrace/core";
import { memorySessionStore, systemClock } from "@millrace/core/memory";
import { createHub, sseSink } from "@millrace/server/hub";
import { redisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { listen } from "../../packages/server/src/testing/loopback.ts";
import { startReader } from "../../packages/server/src/testing/reader.ts";
import { BatchProducer } from "../../packages/server/src/testing/batch-producer.ts";
import { ask, startRedis } from "../../scripts/services/redis.ts";

const sessions = 500;
const viewersOfEach = 10;
const viewers = sessions * viewersOfEach;

interface Reads {
  store: number;
  log: number;
  tails: number;
}

function counted(reads: Reads, store: SessionStore, log: EventLog) {
  const ports: { store: SessionStore; log: EventLog } = {
    store: {
      ...store,
      read: (uid, options) => {
        reads.store += 1;
        return store.read(uid, options);
      },
    },
    log: {
      ...log,
      read: (uid, lane, after) => {
        reads.log += 1;
        return log.read(uid, lane, after);
      },
      tail: (uid, options) => {
        reads.tails += 1;
        return log.tail(uid, options);
      },
    },
  };
  return ports;
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const start = Date.now();
  while (!condition()) {
    if (Date.now() - start > 60_000) throw new Error(`timed out: ${what}`);
    await new Promise((wake) => setTimeout(wake, 5));
  }
}

/** Repeats `ask`, since a busy machine may take longer than `ask` waits. */
async function askWithRetries(port: number, command: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask(port, command);
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}

/** The clients that Redis lists, without the one that sends the command. */
async function connections(port: number): Promise<number> {
  const list = await askWithRetries(port, "CLIENT LIST");
  return list.split("\n").filter((line) => line.startsWith("id=")).length - 1;
}

it("5,000 viewers of 500 sessions take two connections to Redis, and a break of them ends no response and costs one read for each session", async () => {
  await using redis = await startRedis();
  await using log = redisLog({ url: redis.url });
  const store = memorySessionStore();
  const reads: Reads = { store: 0, log: 0, tails: 0 };
  using hub = createHub({ ...counted(reads, store, log), clock: systemClock, lingerMs: 60_000 });
  const producers = new Map<string, BatchProducer>();
  for (let session = 0; session < sessions; session += 1)
    producers.set(
      `/${session}`,
      await BatchProducer.open(store, log, { name: `session ${session}` }),
    );
  const open = new Set<unknown>();
  let broken = 0;
  const server = createServer((request, response) => {
    const producer = producers.get(request.url ?? "");
    if (producer === undefined) throw new TypeError(request.url);
    const { "last-event-id": id } = request.headers;
    const cursor = typeof id === "string" ? decodeCursor(id) : undefined;
    open.add(response);
    response.once("close", () => open.delete(response));
    const { uid, sessionId } = producer;
    hub.deliver({ uid, sessionId, cursor }, sseSink(response)).catch(() => {
      broken += 1;
    });
  });
  const port = await listen(server);
  const reader = startReader();
  const paths = [...producers.keys()];
  const comeBack = async (cursorOf: (uid: SessionUid, head: number) => string | undefined) => {
    for (const path of paths) {
      const { uid, head } = producers.get(path) as BatchProducer; // the paths are its keys
      const cursor = cursorOf(uid, head);
      await reader.ask({ ask: "open", port, path, count: viewersOfEach, cursor });
    }
    await until(() => open.size === viewers, "all connected");
  };
  const leave = async (): Promise<void> => {
    for (const path of paths) await reader.ask({ ask: "close", path });
    await until(() => open.size === 0, "all closed");
  };
  const lanes = [
    { lane: 0, epoch: packEpoch({ incarnation: 1, generation: 2, attempt: 1 }), seq: 1 },
  ];
  const atHead = (uid: SessionUid, head: number): string => encodeCursor({ uid, head, lanes });

  await comeBack(() => undefined);
  const first = { ...reads };
  const inUse = await connections(redis.port);
  await leave();
  await comeBack(atHead);
  const again = { store: reads.store - first.store, log: reads.log - first.log };
  // Every subscription of the node breaks at once and is renewed; all viewers stay.
  const before = { ...reads };
  await askWithRetries(redis.port, "CLIENT KILL TYPE pubsub");
  await until(() => reads.log - before.log === sessions, "all joined anew");
  const storm = {
    store: reads.store - before.store,
    log: reads.log - before.log,
    tails: reads.tails - before.tails,
  };
  const inUseAfter = await connections(redis.port);

  console.log(
    `count: ${viewers} viewers, ${sessions} sessions: ${inUse} connections to Redis, ${inUseAfter} after a storm;`,
    `${first.store} reads of the store and ${first.log} of the log to join,`,
    `${again.store} and ${again.log} when all come back, ${storm.store} and ${storm.log} after a broken subscription`,
  );
  expect(Math.max(inUse, inUseAfter)).toBeLessThanOrEqual(4);
  expect(first).toEqual({ store: sessions, log: sessions, tails: sessions });
  expect(again).toEqual({ store: 0, log: 0 });
  expect(storm).toEqual({ store: sessions, log: sessions, tails: sessions });
  expect([broken, open.size]).toEqual([0, viewers]);
  reader.end();
  server.closeAllConnections();
  server.close();
}, 180_000);
