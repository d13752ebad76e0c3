import { setTimeout as sleep } from "node:timers/promises";
import { countersCases } from "@millrace/conformance";
import type { CountersFixture } from "@millrace/conformance";
import { createClient } from "@redis/client";
import { describe, expect, it } from "vitest";
import { sharedRedis } from "../../../../scripts/services/shared.ts";
import { redisCounters } from "./redis-counters.ts";

const { url, prefix } = await sharedRedis();
const admin = await createClient({ url }).connect();

const fixture: CountersFixture = {
  open: async () => {
    const counters = redisCounters({ url, prefix });
    const elsewhere = redisCounters({ url, prefix });
    return {
      counters,
      elsewhere,
      pass: (ms) => sleep(ms),
      [Symbol.asyncDispose]: async () => {
        await counters.close();
        await elsewhere.close();
      },
    };
  },
};

describe("redisCounters", () => {
  for (const { name, run } of countersCases) it.concurrent(name, () => run(fixture));

  it("go on after Redis has forgotten its scripts", async () => {
    await using counters = redisCounters({ url, prefix });
    const use = { key: crypto.randomUUID(), limit: 2, windowMs: 60_000 };
    await counters.take(use);
    await admin.sendCommand(["SCRIPT", "FLUSH"]);
    expect(await counters.take(use)).toMatchObject({ taken: true, remaining: 0 });
  });

  it("leave nothing in Redis that names a key or stays for ever", async () => {
    await using counters = redisCounters({ url, prefix: `${prefix}own:` });
    await counters.take({ key: "ann@example.org", limit: 2, windowMs: 60_000 });
    await counters.hold({ key: "ann@example.org", holder: "h", limit: 2, leaseMs: 60_000 });
    const keys = (await admin.sendCommand(["KEYS", `${prefix}own:*`])) as unknown as string[];
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(key).not.toContain("ann");
      expect(await admin.sendCommand(["PTTL", key])).toBeGreaterThan(0);
    }
  });

  it("reject while Redis is away, at once after the first failure", async () => {
    await using counters = redisCounters({ url: "redis://127.0.0.1:1", timeoutMs: 300 });
    const take = async (): Promise<unknown> =>
      counters.take({ key: "k", limit: 1, windowMs: 1_000 });
    await expect(take()).rejects.toThrow("no connection to Redis");
    const before = performance.now();
    await Promise.all(Array.from({ length: 100 }, () => expect(take()).rejects.toThrow()));
    expect(performance.now() - before).toBeLessThan(200);
  });

  it("refuse options that can't be used, and plain connections beyond this machine", () => {
    expect(() => redisCounters({ url: "http://x" })).toThrow("redis://");
    expect(() => redisCounters({ url: "redis://far.example:6379" })).toThrow("rediss://");
  });
});
