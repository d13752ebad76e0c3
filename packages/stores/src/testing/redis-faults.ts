import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import type { Server } from "../../../../scripts/services/server.ts";

/** A fault of a Redis. Afterwards it answers again. */
export type RedisFault = (server: Server) => Promise<unknown>;

/** How long faults last. */
export interface FaultTimes {
  /** How long a killed Redis is away, beside its start. */
  readonly awayMs: number;
  /** How long one is stopped, or full. Shorter than its clients wait. */
  readonly momentMs: number;
  /** How long one is stopped, longer than its clients wait. */
  readonly silentMs: number;
}

/** All faults of a Redis, by the words for a test's name. */
export function redisFaults(times: FaultTimes): Readonly<Record<string, RedisFault>> {
  const stopped = (ms: number): RedisFault => {
    return async (server) => {
      await server.stop();
      await sleep(ms);
      await server.cont();
    };
  };
  return {
    "is flushed": (server) => command(server, ["FLUSHALL"]),
    "is killed and starts again empty": async (server) => {
      await server.kill();
      await sleep(times.awayMs);
      await server.restart();
    },
    "is stopped for a moment": stopped(times.momentMs),
    "is stopped for longer than its clients wait": stopped(times.silentMs),
    "evicts its keys": evict,
    "is full and refuses to write for a while": async (server) => {
      await command(server, ["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
      await command(server, ["CONFIG", "SET", "maxmemory", "1"]);
      await sleep(times.momentMs);
      await command(server, ["CONFIG", "SET", "maxmemory", "0"]);
    },
    "cuts its subscribers off": (server) => command(server, ["CLIENT", "KILL", "TYPE", "pubsub"]),
    "cuts its writers off": (server) =>
      command(server, ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]),
  };
}

/** Makes Redis evict every key. A key that a writer creates again meanwhile is evicted too, or is new. */
async function evict(server: Server): Promise<void> {
  await command(server, ["CONFIG", "SET", "maxmemory-policy", "allkeys-random"]);
  await command(server, ["CONFIG", "SET", "maxmemory", "1"]);
  // Redis evicts keys before it answers with OOM.
  await command(server, ["SET", "other", "x"]).catch(() => undefined);
  for (let left = 100; (await command(server, ["DBSIZE"])) !== "0"; left -= 1) {
    if (left === 0) throw new Error("Redis kept its keys");
    await sleep(10);
  }
  await command(server, ["CONFIG", "SET", "maxmemory", "0"]);
}

/** Sends one command over a connection of its own. The answer as JSON. */
export async function command(server: Server, words: readonly string[]): Promise<string> {
  const client = createClient({ url: server.url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return JSON.stringify(await client.sendCommand([...words]));
  } finally {
    client.destroy();
  }
}
