import { setTimeout as sleep } from "node:timers/promises";
import { lastOfRemoved } from "@millrace/core/store-kit";
import type { Nudge } from "@millrace/core/store-kit";
import { createClient } from "@redis/client";
import { describe, expect, it } from "vitest";
import { startRedis } from "../../../../scripts/services/redis.ts";
import { sharedRedis } from "../../../../scripts/services/shared.ts";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { listen, names } from "../testing/listen.ts";
import { batchAt, epochOf, newUid } from "../testing/redis-batch.ts";
import { openRedisSession, until } from "../testing/redis-session.ts";
import { keysOf } from "./keys.ts";

const { url, prefix } = await sharedRedis();
const redis = await createClient({ url }).connect();

describe("between two writers", () => {
  it("a stored batch reaches readers, and a refused one does not", async () => {
    await using writer = keyedRedisLog({ url, prefix });
    await using zombie = keyedRedisLog({ url, prefix });
    await using reader = keyedRedisLog({ url, prefix });
    const uid = newUid();
    await writer.append(uid, batchAt(2, 0));
    const { all } = listen(await reader.tail(uid));

    const refused = await zombie.append(uid, batchAt(1, 0, 7));
    await writer.append(uid, batchAt(2, 1));
    await zombie.append(uid, batchAt(1, 0, 9));
    await writer.append(uid, batchAt(2, 2));

    expect(refused).toEqual({ outcome: "refused", last: { epoch: epochOf(2), seq: 0 } });
    await until(() => all.length >= 2, "both arrive");
    await sleep(50);
    expect(names(all)).toEqual(["1", "2"]);
  });

  it("no batch of a writer reaches readers once its successor has begun in the same process", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    await log.append(uid, batchAt(1, 0));
    const { all } = listen(await log.tail(uid));

    const begun = log.append(uid, batchAt(2, 0));
    await log.append(uid, batchAt(1, 1));
    await begun;
    await log.append(uid, batchAt(2, 2));

    await until(() => names(all).includes("2"), "the successor's batch arrives");
    expect(names(all)).toEqual(["0", "2"]);
  });

  it("removing a session ends the tails and nudges of the other", async () => {
    await using one = keyedRedisLog({ url, prefix });
    await using other = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const tail = listen(await other.tail(uid));
    const nudges = listen(await other.nudges(uid));

    await one.remove(uid);

    expect(await Promise.all([tail.over, nudges.over])).toEqual(["ended", "ended"]);
  });

  it("removing a session deletes every key of it but a notice without content, which expires", async () => {
    await using one = keyedRedisLog({ url, prefix });
    await using other = keyedRedisLog({ url, prefix });
    const uid = newUid();
    for (const lane of [0, 1, 250]) await one.append(uid, batchAt(1, 0, 0, lane));
    expect(await redis.keys(`${prefix}{${uid}}*`)).toHaveLength(4);

    await other.remove(uid);

    const notice = keysOf(prefix, uid).removed;
    expect(await redis.keys(`${prefix}{${uid}}*`)).toEqual([notice]);
    expect(await redis.get(notice)).toMatch(/^[\w-]{22}removed$/);
    expect(await redis.ttl(notice)).toBeGreaterThan(0);
  });

  it("a writer that creates a lane after the removal is refused, and leaves nothing", async () => {
    await using writer = keyedRedisLog({ url, prefix });
    await using other = keyedRedisLog({ url, prefix });
    const uid = newUid();
    await writer.append(uid, batchAt(1, 0));
    await other.remove(uid);

    const later = await writer.append(uid, batchAt(1, 1));
    const restated = await writer.append(uid, batchAt(1, 0));
    const opened = await writer.append(uid, batchAt(2, 0, 0, 7));

    expect(later).toEqual({ outcome: "absent" });
    expect(restated).toEqual({ outcome: "refused", last: lastOfRemoved });
    expect(opened).toEqual({ outcome: "refused", last: lastOfRemoved });
    expect(await redis.keys(`${prefix}{${uid}}*`)).toEqual([keysOf(prefix, uid).removed]);
  });

  it("a notice of removal that was written without the key refuses nothing", async () => {
    await using writer = keyedRedisLog({ url, prefix });
    const uid = newUid();
    await redis.set(keysOf(prefix, uid).removed, `${"A".repeat(22)}removed`);

    expect(await writer.append(uid, batchAt(1, 0))).toMatchObject({ outcome: "stored" });
  });

  it("all keys and channels of a session share its uid as hash tag", async () => {
    const uid = newUid();
    const keys = keysOf("a:", uid);

    for (const key of [keys.lane(3), keys.lanes, keys.tail, keys.nudges]) {
      expect(/\{(.*?)\}/.exec(key)?.[1]).toBe(uid);
    }
  });
});

describe("of what the log does not store, at most one batch in a row is announced elsewhere", () => {
  it("when the lane was lost", async () => {
    await using log = keyedRedisLog({ url, prefix });
    await using other = keyedRedisLog({ url, prefix });
    const uid = newUid();
    await log.append(uid, batchAt(1, 0));
    const { all } = listen(await other.tail(uid));
    const { all: near } = listen(await log.tail(uid));
    await redis.unlink(keysOf(prefix, uid).lane(0));

    for (const seq of [1, 2, 3]) {
      expect(await log.append(uid, batchAt(1, seq))).toEqual({ outcome: "absent" });
    }
    await log.append(uid, batchAt(1, 0, 4));

    await until(() => names(all).includes("4"), "the re-seed arrives");
    expect(names(all)).toEqual(["1", "4"]);
    expect(names(near)).toEqual(["4"]);
  });

  it("when the writer was superseded from elsewhere", async () => {
    await using zombie = keyedRedisLog({ url, prefix });
    await using holder = keyedRedisLog({ url, prefix });
    const uid = newUid();
    await zombie.append(uid, batchAt(1, 0));
    await holder.append(uid, batchAt(2, 0));
    const { all } = listen(await holder.tail(uid)); // it has received no batch of epoch 2 yet

    for (const seq of [1, 2, 3]) await zombie.append(uid, batchAt(1, seq));
    await holder.append(uid, batchAt(2, 1));

    await until(
      () => all.some((message) => "epoch" in message && message.epoch === epochOf(2)),
      "it",
    );
    expect(names(all)).toEqual(["1", "1"]);
  });

  it("when Redis has no room", async () => {
    await using server = await startRedis();
    const admin = await createClient({ url: server.url }).connect();
    await using log = keyedRedisLog({ url: server.url });
    await using other = keyedRedisLog({ url: server.url });
    const uid = newUid();
    await log.append(uid, batchAt(1, 0));
    const { all } = listen(await other.tail(uid));
    const { all: near } = listen(await log.tail(uid));
    await admin.configSet("maxmemory", "1");

    for (const seq of [1, 2, 3]) {
      await expect(log.append(uid, batchAt(1, seq))).rejects.toThrow("OOM");
    }
    await admin.configSet("maxmemory", "0");
    await log.append(uid, batchAt(1, 4));

    await until(() => names(all).includes("4"), "the stored batch arrives");
    expect(names(all)).toEqual(["1", "4"]);
    expect(names(near)).toEqual(["4"]);
    admin.destroy();
  });
});

describe("a lane", () => {
  it("is kept for a while after each of its batches, and no longer", async () => {
    await using log = keyedRedisLog({ url, prefix, retentionMs: 600_000 });
    const uid = newUid();
    const keys = keysOf(prefix, uid);
    await log.append(uid, batchAt(1, 0));
    for (const key of [keys.lane(0), keys.lanes]) {
      expect(await redis.ttl(key)).toBeGreaterThan(590);
      await redis.expire(key, 100);
    }

    // The writer of an open lane appends every 15 s, so these take half of the retention at the slowest.
    for (let seq = 1; seq <= 20; seq += 1) await log.append(uid, batchAt(1, seq));

    for (const key of [keys.lane(0), keys.lanes]) {
      expect(await redis.ttl(key)).toBeGreaterThan(590);
    }
  });

  it("is kept for ten minutes once its item is announced, and as before if it is opened again", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const session = await openRedisSession();
    const key = keysOf(prefix, session.uid).lane(0);
    const reply = await session.start(log, 1);
    reply.append("text");
    await reply.writer.flush();
    expect(await redis.ttl(key)).toBeGreaterThan(3_500);

    await reply.commit();

    expect(await redis.ttl(key)).toBeLessThanOrEqual(600);
    expect(await redis.ttl(key)).toBeGreaterThan(590);
    await log.append(session.uid, batchAt(2, 0));
    expect(await redis.ttl(key)).toBeGreaterThan(3_500);
  });

  it("holds nothing from before its last batch from 0", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    for (let seq = 0; seq < 300; seq += 1) await log.append(uid, batchAt(1, seq));

    await log.append(uid, batchAt(1, 0, 300));

    expect(await redis.xLen(keysOf(prefix, uid).lane(0))).toBe(1);
  });

  it("longer than a page is read whole", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const batches = Array.from({ length: 1_250 }, (_, seq) => batchAt(1, seq));
    await Promise.all(batches.map((batch) => log.append(uid, batch)));

    expect(await log.read(uid, 0)).toEqual(batches);
    expect(await log.read(uid, 0, { epoch: epochOf(1), seq: 249 })).toHaveLength(1_000);
  });

  it("with garbage in it is read without the garbage", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const key = keysOf(prefix, uid).lane(0);
    const garbage = ["not json", "{}", "[1]", '{"v":1,"first":0}', '{"v":9,"first":2}', ""];
    await log.append(uid, batchAt(1, 0));
    for (const [at, text] of garbage.entries()) {
      await redis.xAdd(key, `${epochOf(1)}-${at + 1}`, { b: text });
    }
    await redis.xAdd(key, `${epochOf(1)}-20`, { other: "field" });
    // A batch under a wrong id or in a wrong lane is not one of this place.
    await redis.xAdd(key, `${epochOf(1)}-21`, { b: JSON.stringify(batchAt(1, 3)) });
    await redis.xAdd(key, `${epochOf(1)}-22`, { b: JSON.stringify(batchAt(1, 22, 22, 1)) });
    await log.append(uid, batchAt(1, 30));

    expect(await log.read(uid, 0)).toEqual([batchAt(1, 0), batchAt(1, 30)]);
  });

  it("with garbage in it is shown whole to a viewer that joins: its writer appends all of it again", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const session = await openRedisSession();
    const reply = await session.start(log, 1);
    reply.append("the beginning, ");
    await reply.writer.flush();
    const key = keysOf(prefix, session.uid).lane(0);
    const [[id] = []] = (await redis.sendCommand(["XREVRANGE", key, "+", "-"])) as string[][];
    await redis.unlink(key);
    await redis.xAdd(key, id ?? "", { b: "garbage" });

    await using viewer = session.watch(log);
    await until(() => viewer.text() === reply.written(), "it sees all", 3_000);
    reply.append("the end");
    await until(() => viewer.text() === reply.written(), "it sees the end", 3_000);
    await reply.commit();
  });
});

describe("garbage in a channel", () => {
  it("reaches no reader and ends no subscription", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const { tail: channel, nudges: way } = keysOf(prefix, uid);
    const tail = listen(await log.tail(uid));
    const nudges = listen<Nudge>(await log.nudges(uid));

    for (const text of ["", "{", "null", "[]", '{"v":1}', '{"kind":"reseed","lane":"0"}', "\0"]) {
      await redis.sPublish(channel, text);
      await redis.sPublish(way, text);
    }
    await log.append(uid, batchAt(1, 0));
    await log.nudge(uid, { kind: "reseed", lane: 0 });

    await until(
      () => tail.all.length > 0 && nudges.all.length > 0,
      "the batch and the nudge arrive",
    );
    expect(names(tail.all)).toEqual(["0"]);
    expect(nudges.all).toEqual([{ kind: "reseed", lane: 0 }]);
  });
});

describe("connections", () => {
  it("are two for 5,000 tails over 500 sessions", { timeout: 120_000 }, async () => {
    await using server = await startRedis();
    const admin = await createClient({ url: server.url }).connect();
    await using log = keyedRedisLog({ url: server.url });
    const uids = Array.from({ length: 500 }, newUid);
    const tails = await Promise.all(
      uids.flatMap((uid) => Array.from({ length: 10 }, () => log.tail(uid))),
    );
    const received = tails.map(listen);
    await Promise.all(uids.map((uid) => log.append(uid, batchAt(1, 0))));
    await until(
      () => received.every(({ all }) => all.length === 1),
      "each tail received its batch",
    );

    const clients = await admin.clientList();
    const subscriptions = clients.map((client) => client.ssub ?? 0).reduce((sum, n) => sum + n, 0);
    console.log(`count: ${tails.length} tails, ${clients.length - 1} connections`);

    expect(clients.length - 1).toBeLessThanOrEqual(2);
    expect(subscriptions).toBe(1_000); // batches and facts of each session
    admin.destroy();
  });

  it("keep no subscription without a reader", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const channel = keysOf(prefix, uid).tail;
    const count = async (): Promise<number> =>
      (await redis.pubSubShardNumSub([channel]))[channel] ?? 0;
    const ends = [new AbortController(), new AbortController()];
    const tails = await Promise.all(ends.map(({ signal }) => log.tail(uid, { signal })));
    expect(await count()).toBe(1);

    ends[0]?.abort();
    expect(await count()).toBe(1);
    for await (const _ of tails[0] ?? []) break;
    ends[1]?.abort();
    for (let left = 100; left > 0 && (await count()) > 0; left -= 1) await sleep(10);
    expect(await count()).toBe(0);

    const again = listen(await log.tail(uid));
    await log.append(uid, batchAt(1, 0));
    await until(() => again.all.length === 1, "a later tail receives");
  });

  it("are closed with the log, and what was open ends", async () => {
    await using server = await startRedis();
    const admin = await createClient({ url: server.url }).connect();
    const log = keyedRedisLog({ url: server.url });
    const uid = newUid();
    await log.append(uid, batchAt(1, 0));
    const tail = listen(await log.tail(uid));

    await log.close();
    await log.close();

    expect(await tail.over).toBe("ended");
    for (let left = 100; left > 0 && (await admin.clientList()).length > 1; left -= 1)
      await sleep(10);
    expect(await admin.clientList()).toHaveLength(1);
    await expect(log.append(uid, batchAt(1, 1))).rejects.toMatchObject({ code: "closed" });
    await expect(log.tail(uid)).rejects.toMatchObject({ code: "closed" });
    await expect(log.nudges(uid)).rejects.toMatchObject({ code: "closed" });
    admin.destroy();
  });
});
