import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parseJsonText } from "@millrace/core/wire";
import { expect, it } from "vitest";
import { startRedis } from "../../../../scripts/services/redis.ts";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { programArguments } from "../testing/child.ts";

const limits = { redis: 0.75, process: 1 };

/** Microseconds of the processor for each delta. */
interface Spent {
  readonly redis: number;
  readonly process: number;
}
type Figures = Readonly<Record<"aligned" | "spread", Spent>>;

function ratios({ aligned, spread }: Figures): Spent {
  return { redis: aligned.redis / spread.redis, process: aligned.process / spread.process };
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
  const { redis, process: own } = ratios(figures);

  console.log(
    `count: a delta of 100 lanes, windows that end together against one by one: Redis`,
    `${figures.aligned.redis.toFixed(2)} us (${redis.toFixed(2)} times), this process`,
    `${figures.aligned.process.toFixed(2)} us (${own.toFixed(2)} times)`,
  );
  expect(redis).toBeLessThanOrEqual(limits.redis);
  expect(own).toBeLessThanOrEqual(limits.process);
}, 600_000);
