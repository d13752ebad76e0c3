import { createClient } from "@redis/client";
import { describe, expect, it, vi } from "vitest";
import { sharedRedis } from "../../../../scripts/services/shared.ts";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { listen, names } from "../testing/listen.ts";
import { batchAt, newUid } from "../testing/redis-batch.ts";
import { keysOf } from "./keys.ts";
import { Near } from "./near.ts";

const { url, prefix } = await sharedRedis();
const redis = await createClient({ url }).connect();

describe("a reader in the writer's own process", () => {
  it("has each batch once, in order, as it is in Redis and as readers elsewhere have it", async () => {
    await using log = keyedRedisLog({ url, prefix });
    await using other = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const near = listen(await log.tail(uid));
    const second = listen(await log.tail(uid));
    const elsewhere = listen(await other.tail(uid));

    for (let seq = 0; seq < 300; seq += 1) await log.append(uid, batchAt(1, seq));
    const stored = await log.read(uid, 0);
    for (let seq = 0; seq < 20; seq += 1) await other.append(uid, batchAt(2, seq));
    await log.append(uid, batchAt(3, 0));

    await vi.waitFor(() => expect(elsewhere.all).toHaveLength(321));
    await vi.waitFor(() => expect(near.all).toHaveLength(321));
    expect(near.all).toEqual(elsewhere.all);
    expect(second.all).toEqual(near.all);
    expect(near.all.slice(0, 300)).toEqual(stored);
  });

  it("has no batch before it is stored, and none that is refused", async () => {
    await using log = keyedRedisLog({ url, prefix });
    await using other = keyedRedisLog({ url, prefix });
    const uid = newUid();
    await log.append(uid, batchAt(1, 0));
    const { all } = listen(await log.tail(uid));
    const elsewhere = listen(await other.tail(uid));

    const appended = log.append(uid, batchAt(1, 1));
    expect(all).toEqual([]);
    await appended;
    await redis.xAdd(keysOf(prefix, uid).lane(0), `${batchAt(2, 0).epoch}-0`, { b: "x" });
    const refused = await log.append(uid, batchAt(1, 2)); // it is announced in the same packet
    await log.append(uid, batchAt(1, 0, 3));

    expect(refused.outcome).toBe("absent");
    await vi.waitFor(() => expect(names(elsewhere.all)).toEqual(["1", "2", "3"]));
    expect(names(all)).toEqual(["1", "3"]);
  });

  it("is reported by an append, and one elsewhere is not", async () => {
    await using log = keyedRedisLog({ url, prefix });
    await using other = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const leave = new AbortController();
    await other.tail(uid);
    expect(await log.append(uid, batchAt(1, 0))).not.toHaveProperty("near");
    await log.tail(uid, { signal: leave.signal });

    expect(await log.append(uid, batchAt(1, 1))).toHaveProperty("near", true);
    leave.abort();
    expect(await log.append(uid, batchAt(1, 2))).not.toHaveProperty("near");
  });

  it("that comes while a batch is on its way has it once or not at all", async () => {
    await using log = keyedRedisLog({ url, prefix });
    for (let round = 0; round < 50; round += 1) {
      const uid = newUid();
      await log.append(uid, batchAt(1, 0));
      const appended = log.append(uid, batchAt(1, 1));
      const tail = log.tail(uid);
      await appended;
      const { all } = listen(await tail);
      await log.append(uid, batchAt(1, 2));
      await vi.waitFor(() => expect(names(all)).toContain("2"), { interval: 1 });

      expect(["2", "1,2"]).toContain(names(all).join());
    }
  });
});

describe("the texts that a process expects back", () => {
  const mac = (n: number): string => `${n}`.padStart(22, "A");

  it("are each dropped once", () => {
    const near = new Near<string>();
    near.expect(`${mac(1)}text`);

    expect(near.takeExpected(`${mac(2)}text`)).toBe(false);
    expect(near.takeExpected(`${mac(1)}text`)).toBe(true);
    expect(near.takeExpected(`${mac(1)}text`)).toBe(false);
  });

  it("are bounded: of those that never came the oldest is given up", () => {
    const near = new Near<string>();
    for (let n = 0; n <= 1_000; n += 1) near.expect(`${mac(n)}text`);

    expect(near.takeExpected(`${mac(0)}text`)).toBe(false);
    expect(near.takeExpected(`${mac(1)}text`)).toBe(true);
  });
});
