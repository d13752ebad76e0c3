import { setTimeout as sleep } from "node:timers/promises";
import {
  deliveryCases,
  deliveryLossCases,
  eventLogCases,
  eventLogLossCases,
} from "@millrace/conformance";
import { afterAll, describe, expect, it, vi } from "vitest";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { batchAt, newUid } from "../testing/redis-batch.ts";
import { startRedisCluster } from "../testing/redis-cluster.ts";
import { redisFixtures } from "../testing/redis-fixtures.ts";
import { openRedisSession, until } from "../testing/redis-session.ts";
import { keysOf } from "./keys.ts";
import { slotOf } from "./slot.ts";

vi.setConfig({ testTimeout: 60_000 });

const cluster = await startRedisCluster();
const [seed = ""] = cluster.urls;
afterAll(() => cluster[Symbol.asyncDispose]());

/** The node of a slot, as slots are assigned at the start. */
function ownerOf(slot: number): number {
  return Math.min(2, Math.floor((slot * 3) / 16_384));
}

const { log, delivery } = redisFixtures({
  prefix: "millrace:",
  open: (options) => keyedRedisLog({ cluster: [seed], ...options }),
  unlink: (slot, keys) => cluster.send(ownerOf(slot), "UNLINK", ...keys),
});

describe("redisLog on a cluster of three", () => {
  for (const { name, run } of [...eventLogCases, ...eventLogLossCases]) it(name, () => run(log));
});

describe("memorySessionStore and redisLog on a cluster of three", () => {
  for (const { name, run } of [...deliveryCases, ...deliveryLossCases])
    it(name, () => run(delivery));
});

describe("a cluster", () => {
  it("has each session's keys in one slot, computed as Redis does", async () => {
    for (const prefix of ["millrace:", "", "Ünï:"]) {
      const uid = newUid();
      const keys = keysOf(prefix, uid);
      for (const key of [keys.lane(3), keys.lanes, keys.tail, keys.facts, keys.nudges]) {
        expect(slotOf(key)).toBe(keys.slot);
        expect(await cluster.send(0, "CLUSTER", "KEYSLOT", key)).toBe(keys.slot);
      }
    }
  });

  it("takes no prefix that would spread a session over slots", () => {
    for (const prefix of ["{}", "x{", "a{b}c", "}"]) {
      expect(() => keyedRedisLog({ prefix })).toThrow("hash tag");
    }
  });

  it("is used through two connections to each node, whatever the number of sessions", async () => {
    await using own = await startRedisCluster();
    await using opened = keyedRedisLog({ cluster: [own.urls[2] ?? ""] });
    const uids = Array.from({ length: 120 }, newUid);
    await Promise.all(uids.map((uid) => opened.tail(uid)));
    await Promise.all(uids.map((uid) => opened.append(uid, batchAt(1, 0))));

    const clients = async (node: number): Promise<number> =>
      String(await own.send(node, "CLIENT", "LIST", "TYPE", "NORMAL"))
        .split("\n")
        .filter((line) => line.includes("id=") && !line.includes("cmd=client")).length +
      String(await own.send(node, "CLIENT", "LIST", "TYPE", "PUBSUB"))
        .split("\n")
        .filter((line) => line.includes("id=")).length;
    const counts = await Promise.all([0, 1, 2].map(clients));
    const keys = await Promise.all([0, 1, 2].map((node) => own.send(node, "DBSIZE")));

    console.log(
      `count: ${uids.length} sessions on nodes ${keys.join(", ")}; connections ${counts.join(", ")}`,
    );
    expect(keys.every((count) => Number(count) > 20)).toBe(true);
    expect(counts).toEqual([2, 2, 2]);
  });

  it("may move the slot of a session that is written and watched", async () => {
    await using own = await startRedisCluster();
    await using writerLog = keyedRedisLog({ cluster: own.urls });
    await using readerLog = keyedRedisLog({ cluster: own.urls });
    const session = await openRedisSession();
    await using viewer = session.watch(readerLog);
    const reply = await session.start(writerLog, 1);
    reply.append("before, ");
    await until(() => viewer.text() === reply.written(), "it is seen", 30_000);
    const { slot, lane } = keysOf("millrace:", session.uid);
    const to = (ownerOf(slot) + 1) % 3;

    await own.send(ownerOf(slot), "UNLINK", lane(0), keysOf("millrace:", session.uid).lanes);
    await own.move(slot, to);
    reply.append("and after");

    await until(() => viewer.text() === reply.written(), "it is seen from the new node", 30_000);
    expect(await own.send(to, "EXISTS", lane(0))).toBe(1);
    expect(await reply.commit()).toBe(true);
    await until(() => viewer.items() === 1, "the item is seen", 30_000);
  });

  it("goes on with the sessions of the other nodes when one is gone", async () => {
    await using own = await startRedisCluster();
    for (const node of [0, 1, 2]) {
      await own.send(node, "CONFIG", "SET", "cluster-require-full-coverage", "no");
    }
    await using opened = keyedRedisLog({ cluster: own.urls, timeoutMs: 500 });
    const uids = Array.from({ length: 30 }, newUid);
    await Promise.all(uids.map((uid) => opened.append(uid, batchAt(1, 0))));
    await own.nodes[1]?.kill();

    const answers = await Promise.allSettled(uids.map((uid) => opened.append(uid, batchAt(1, 1))));

    for (const [at, uid] of uids.entries()) {
      const gone = ownerOf(keysOf("millrace:", uid).slot) === 1;
      expect(answers[at]?.status).toBe(gone ? "rejected" : "fulfilled");
    }
    await own.nodes[1]?.restart();
    const again = async (uid: (typeof uids)[number]): Promise<string> => {
      for (let left = 200; left > 0; left -= 1) {
        const answer = await opened.append(uid, batchAt(1, 0, 400 - left)).catch(() => undefined);
        if (answer?.outcome === "stored") return answer.outcome;
        await sleep(100);
      }
      return "never";
    };
    expect(new Set(await Promise.all(uids.map(again)))).toEqual(new Set(["stored"]));
  });

  it("that can't be reached is an error of each call, at once", async () => {
    await using opened = keyedRedisLog({ cluster: ["redis://127.0.0.1:9"], timeoutMs: 500 });

    await expect(opened.append(newUid(), batchAt(1, 0))).rejects.toThrow("no node of the cluster");
    await expect(opened.tail(newUid())).rejects.toThrow("no node of the cluster");
  });
});
