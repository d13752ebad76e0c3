import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import { startRedis } from "../../../../scripts/services/redis.ts";
import { freePort } from "../../../../scripts/services/server.ts";
import type { Server } from "../../../../scripts/services/server.ts";

/** A Redis Cluster of our own. */
export interface RedisCluster extends AsyncDisposable {
  readonly nodes: readonly Server[];
  readonly urls: readonly string[];
  /** Sends a command to one node. */
  readonly send: (node: number, ...command: readonly string[]) => Promise<unknown>;
  /** Gives a slot without keys to another node. */
  readonly move: (slot: number, to: number) => Promise<void>;
}

/** Starts primaries that share all slots evenly. Resolves when each reports `cluster_state:ok`. */
export async function startRedisCluster(count = 3): Promise<RedisCluster> {
  const buses = await Promise.all(Array.from({ length: count }, freePort));
  const nodes = await Promise.all(
    buses.map((bus) =>
      startRedis({
        settings: {
          "cluster-enabled": "yes",
          "cluster-config-file": "nodes.conf",
          "cluster-node-timeout": "5000",
          "cluster-port": `${bus}`,
        },
      }),
    ),
  );
  const clients = await Promise.all(nodes.map(({ url }) => createClient({ url }).connect()));
  for (const client of clients) client.on("error", () => undefined);
  const send = async (node: number, ...command: readonly string[]): Promise<unknown> =>
    await clients[node]?.sendCommand(command);

  for (const [at, { port }] of nodes.entries()) {
    const [from, to] = [at, at + 1].map((n) => Math.round((n * 16_384) / count));
    await send(at, "CLUSTER", "ADDSLOTSRANGE", `${from}`, `${(to ?? 0) - 1}`);
    if (at > 0) await send(0, "CLUSTER", "MEET", "127.0.0.1", `${port}`, `${buses[at]}`);
  }
  const isReady = async (at: number): Promise<boolean> => {
    const info = String(await send(at, "CLUSTER", "INFO"));
    return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${count}`);
  };
  for (let left = 600; ; left -= 1) {
    const ready = await Promise.all(nodes.map((_, at) => isReady(at)));
    if (ready.every(Boolean)) break;
    if (left === 0) throw new Error("the cluster does not start");
    await sleep(100);
  }
  return {
    nodes,
    urls: nodes.map(({ url }) => url),
    send,
    move: async (slot, to) => {
      const id = String(await send(to, "CLUSTER", "MYID"));
      // The new owner first: the others would send it back.
      await send(to, "CLUSTER", "SETSLOT", `${slot}`, "NODE", id);
      for (const at of nodes.keys()) await send(at, "CLUSTER", "SETSLOT", `${slot}`, "NODE", id);
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.destroy();
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}
