import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parseJsonText } from "@millrace/core/wire";
import { expect, it } from "vitest";
import { startRedis } from "../../../../scripts/services/redis.ts";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { programArguments } from "../testing/child.ts";

const limits = { redis: 0.75, process: 1, reads: 0.25 };

/** Microseconds of the processor for each delta. */
interface Spent {
  readonly redis: number;
  readonly process: number;
  /** How often Redis read from a socket, for each delta. */
  readonly reads: number;
}
type Figures = Readonly<Record<"aligned" | "spread", Spent>>;

function ratios({ aligned, spread }: Figures): Spent {
  return {
    redis: aligned.redis / spread.redis,
    process: aligned.process / spread.process,
    reads: aligned.reads / spread.reads,
  };
}

it("lanes whose windows end together cost Redis at most three quarters, and this process no more", async () => {
  await using server = await startRedis();
  const figures = await retryWhenNoisy(
    async () => {
      const program = programArguments("aligned-cost-run.ts");
      const env = { ...process.env, REDIS_URL: server.url };
      const { stdout } = await promisify(execFile)(process.execPath, program, { env });
      return parseJsonText(stdout) as Figures; // the program is our own
    },
    (taken) => ratios(taken).redis <= limits.redis && ratios(taken).process <= limits.process,
    5,
  );
  const { redis, process: own, reads } = ratios(figures);

  console.log(
    `count: a delta of 100 lanes, windows that end together against one by one: Redis`,
    `${figures.aligned.redis.toFixed(2)} us (${redis.toFixed(2)} times), this process`,
    `${figures.aligned.process.toFixed(2)} us (${own.toFixed(2)} times), reads of Redis ${reads.toFixed(2)} times`,
  );
  expect(redis).toBeLessThanOrEqual(limits.redis);
  // Appends that share a round trip are read together: this holds on a machine of any load.
  expect(reads).toBeLessThanOrEqual(limits.reads);
  expect(own).toBeLessThanOrEqual(limits.process);
}, 600_000);
