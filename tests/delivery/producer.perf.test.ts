import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createSseDecoder } from "@millrace/core/wire";
import { memorySessionStore, systemClock } from "@millrace/core/memory";
import { createHub } from "@millrace/server/hub";
import { redisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { BatchProducer } from "../../packages/server/src/testing/batch-producer.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";

const rounds = 7;
const limit = 1.3;

/** A sink that is never full and keeps the last event. */
class LastEventSink {
  readonly #decoder = createSseDecoder();
  last = "";
  bind(): void {}
  open(): void {}
  end(): void {}
  write(plain: Uint8Array): boolean {
    for (const event of this.#decoder.feed(Buffer.from(plain).toString()))
      if (event.kind === "event") this.last = event.data;
    return true;
  }
}

it("a hundred viewers cost the writer no more than one", async () => {
  await using redis = await startRedis();
  await using log = redisLog({ url: redis.url });
  const store = memorySessionStore();
  using hub = createHub({ store, log, clock: systemClock });
  const script = new URL("child.ts", import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    ["--conditions=@millrace/source", "--no-warnings", script],
    {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, REDIS_URL: redis.url },
    },
  );
  const lines = createInterface({ input: child.stdout });

  /** The writer's processor time for one reply that so many viewers watch to its end. */
  const costWith = async (viewers: number, name: string): Promise<number> => {
    const producer = await BatchProducer.open(store, log, { name, silent: true });
    const { uid, sessionId, head } = producer;
    const leave = new AbortController();
    const sinks = Array.from({ length: viewers }, () => new LastEventSink());
    const watching = sinks.map((sink) =>
      hub.deliver({ uid, sessionId, signal: leave.signal }, sink),
    );
    child.stdin.write(`${uid} ${sessionId} ${head} ${await store.key(uid)}\n`);
    const [line] = (await once(lines, "line")) as [string];
    for (let wait = 0; !sinks.every(({ last }) => last.includes("599 ")); wait += 1) {
      if (wait > 2_000) throw new Error(`a viewer lacks the end: ${sinks[0]?.last}`);
      await new Promise((wake) => setTimeout(wake, 5));
    }
    leave.abort();
    await Promise.all(watching);
    return Number(line);
  };

  await costWith(1, "warm");
  // Other load on the machine only adds: of several rounds the least counts.
  let [one, hundred, round] = [Infinity, Infinity, 0];
  const times = await retryWhenNoisy(
    async () => {
      for (const last = round + rounds; round < last; round += 1) {
        one = Math.min(one, await costWith(1, `one-${round}`));
        hundred = Math.min(hundred, await costWith(100, `hundred-${round}`));
      }
      return hundred / one;
    },
    (measured) => measured < limit,
  );
  child.kill("SIGKILL");

  console.log(
    `count: the writer's processor time with 100 viewers is ${times.toFixed(2)} times that with one, least of ${round} rounds each`,
  );
  expect(times).toBeLessThan(limit);
}, 300_000);
