import { setTimeout as sleep } from "node:timers/promises";
import { runId, sessionId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import { createClient } from "@redis/client";
import { describe, expect, it } from "vitest";
import { startRedis } from "../../../../scripts/services/redis.ts";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { listen, names } from "../testing/listen.ts";
import { batchAt, newUid } from "../testing/redis-batch.ts";
import { until } from "../testing/redis-session.ts";

describe("while Redis is away", () => {
  it("appends, reads and tails reject at once, and what may be lost is lost", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url, timeoutMs: 1_000 });
    const uid = newUid();
    await log.append(uid, batchAt(1, 0));
    await server.kill();
    const start = performance.now();

    await expect(log.append(uid, batchAt(1, 1))).rejects.toThrow();
    await expect(log.read(uid, 0)).rejects.toThrow();
    await expect(log.tail(uid)).rejects.toThrow();
    await log.nudge(uid, { kind: "wake" });
    const envelope = { v: 1, n: 1, sessionId: sessionId("talk"), time: 1 } as const;
    await log.announce(uid, { ...envelope, type: "run_started", runId: runId("run_1") });

    expect(performance.now() - start).toBeLessThan(1_000);
    await server.restart();
    expect(await log.append(uid, batchAt(1, 2))).toEqual({ outcome: "absent" });
  });

  it("an append that opens a lane rejects once, and leaves no rejection that nothing handles", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url, timeoutMs: 400 });
    await log.append(newUid(), batchAt(1, 0));
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    await server.stop();

    await expect(log.append(newUid(), batchAt(1, 0))).rejects.toThrow();
    await sleep(10);
    process.off("unhandledRejection", note);

    expect(unhandled).toEqual([]);
  });

  it("the last fact of each session waits to be announced, and is when Redis is back", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url });
    await using other = keyedRedisLog({ url: server.url });
    const [uid, next] = [newUid(), newUid()];
    const fact = (n: number): Fact => {
      const envelope = { v: 1, n, sessionId: sessionId("talk"), time: 1 } as const;
      return { ...envelope, type: "run_started", runId: runId("run_1") };
    };
    await log.announce(uid, fact(1));
    await server.kill();
    for (const n of [2, 3]) await log.announce(uid, fact(n));
    await log.announce(next, fact(1));
    await server.restart();

    const tails = [listen(await other.tail(uid)), listen(await other.tail(next))];

    await until(() => tails.every(({ all }) => all.length > 0), "both are announced");
    await sleep(500);
    expect(tails.map(({ all }) => names(all))).toEqual([["fact 3"], ["fact 1"]]);
  });

  it("the connection to a stopped Redis is closed after the time limit, and rejects all that waits", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url, timeoutMs: 400 });
    const uid = newUid();
    await log.append(uid, batchAt(1, 0));
    const tail = listen(await log.tail(uid));
    await server.stop();
    const start = performance.now();

    const answers = await Promise.allSettled(
      [1, 2, 3].map((seq) => log.append(uid, batchAt(1, seq))),
    );

    const ms = performance.now() - start;
    console.log(`count: a silent Redis was given up after ${Math.round(ms)} ms of 400`);
    expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(String(await tail.over)).toContain("join anew");
    await expect(log.append(uid, batchAt(1, 4))).rejects.toThrow(); // opening is limited too
    await server.cont();
    await log.append(uid, batchAt(1, 0, 5));
    const [first] = await log.read(uid, 0);
    expect(first?.first).toBe(0);
  });

  it("no more calls wait for it than are allowed", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url, timeoutMs: 1_000, waiting: 10 });
    const uid = newUid();
    await server.stop();

    const sent = Array.from({ length: 30 }, (_, seq) => log.append(uid, batchAt(1, seq)));
    const first = await Promise.race(sent.map((one, at) => one.catch(() => at)));

    expect(first).toBe(10);
    await server.cont();
    const answers = await Promise.allSettled(sent);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });

  it("a subscription to heads whose connection breaks throws, so that its reader polls", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url, timeoutMs: 1_000 });
    const uid = newUid();
    const envelope = { v: 1, sessionId: sessionId("talk"), time: 1 } as const;
    const fact = (n: number): Fact => ({
      ...envelope,
      n,
      type: "run_started",
      runId: runId("run_1"),
    });
    const heads = listen<number>(await log.heads(uid));
    await log.announce(uid, fact(1));
    await until(() => heads.all.length === 1, "the number arrives");

    await server.kill();
    expect(String(await heads.over)).toContain("join anew");
    await expect(log.heads(uid)).rejects.toThrow();
    await server.restart();

    const again = listen<number>(await log.heads(uid));
    await log.announce(uid, fact(2));
    await until(() => again.all.length === 1, "the next subscription receives");
    expect(again.all).toEqual([2]);
  });

  it("a tail whose connection breaks throws, so that its reader subscribes again", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url });
    const uid = newUid();
    const tail = listen(await log.tail(uid));
    await log.append(uid, batchAt(1, 0));
    await until(() => tail.all.length === 1, "the batch arrives");

    await server.restart();

    expect(await tail.over).toBeInstanceOf(Error);
    expect(names(tail.all)).toEqual(["0"]);
    const again = listen(await log.tail(uid));
    await log.append(uid, batchAt(1, 0, 1));
    await until(() => again.all.length === 1, "the next tail receives");
  });

  it("the connection to a Redis that became a replica is closed, so that the next one leads to its primary", async () => {
    await using server = await startRedis();
    await using other = await startRedis();
    const admin = await createClient({ url: server.url }).connect();
    await using log = keyedRedisLog({ url: server.url });
    const uid = newUid();
    await log.append(uid, batchAt(1, 0));
    const ids = async (): Promise<number[]> => (await admin.clientList()).map(({ id }) => id);
    const before = await ids();
    await admin.sendCommand(["REPLICAOF", "127.0.0.1", `${other.port}`]);

    await expect(log.append(uid, batchAt(1, 1))).rejects.toThrow("READONLY");
    await admin.sendCommand(["REPLICAOF", "NO", "ONE"]);
    await log.append(uid, batchAt(1, 0, 2));

    expect((await ids()).filter((id) => before.includes(id))).toHaveLength(1);
    admin.destroy();
  });

  it("nudges outlive their connection", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url });
    await using other = keyedRedisLog({ url: server.url });
    const uid = newUid();
    const nudges = listen(await log.nudges(uid));

    await server.restart();
    for (let left = 100; left > 0 && nudges.all.length === 0; left -= 1) {
      await other.nudge(uid, { kind: "wake" });
      await sleep(30);
    }

    expect(nudges.all[0]).toEqual({ kind: "wake" });
  });

  it("a subscription to nudges made while it is away receives them once it is back", async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url });
    const uid = newUid();
    await server.kill();

    const nudges = listen(await log.nudges(uid));
    await server.restart();
    for (let left = 100; left > 0 && nudges.all.length === 0; left -= 1) {
      await log.nudge(uid, { kind: "abort" });
      await sleep(30);
    }

    expect(nudges.all[0]).toEqual({ kind: "abort" });
  });
});
