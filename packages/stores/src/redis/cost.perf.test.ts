import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parseJsonText } from "@millrace/core/wire";
import { beforeAll, expect, it } from "vitest";
import { startRedis } from "../../../../scripts/services/redis.ts";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { programArguments } from "../testing/child.ts";

/** An append against bare commands that compute the MAC too: what a MAC costs is the processor's. */
const limits = { append: 1.3, delta: 0.25 };
/** Microseconds of the processor. */
let figures: Readonly<Record<string, number>> = {};

beforeAll(async () => {
  await using server = await startRedis();
  figures = await retryWhenNoisy(
    async () => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        programArguments("redis-cost-run.ts"),
        { env: { ...process.env, REDIS_URL: server.url } },
      );
      return parseJsonText(stdout) as typeof figures; // the program is our own
    },
    ({ append = NaN, sealed = NaN, by64 = NaN, usualDelta = NaN }) =>
      append / sealed < limits.append && by64 / usualDelta < limits.delta,
  );
}, 600_000);

it("an append costs at most 1.3 times the bare commands that put a MAC before the same bytes", () => {
  const { append = NaN, sealed = NaN, given = NaN, encoded = NaN, usual = NaN, bytes } = figures;

  console.log(
    `count: append ${append.toFixed(1)} us; XADD and SPUBLISH of ${bytes} bytes that get a MAC`,
    `${sealed.toFixed(1)} (${(append / sealed).toFixed(2)} times), that are there`,
    `${given.toFixed(1)} (${(append / given).toFixed(2)} times), that are encoded first`,
    `${encoded.toFixed(1)} (${(append / encoded).toFixed(2)} times), in a client as it comes`,
    `${usual.toFixed(1)} (${(append / usual).toFixed(2)} times)`,
  );
  expect(append / sealed).toBeLessThan(limits.append);
});

it("a delta that is gathered costs at most a quarter of an XADD of its own", () => {
  const { by5 = NaN, by16 = NaN, by64 = NaN, bareDelta = NaN, usualDelta = NaN } = figures;
  const against = (cost: number): string =>
    `${cost.toFixed(2)} us (${(cost / usualDelta).toFixed(2)} and ${(cost / bareDelta).toFixed(2)} times)`;

  console.log(
    `count: a delta of 60 bytes by 5 in a batch ${against(by5)}, by 16 ${against(by16)}, by 64 ${against(by64)};`,
    `XADD, 128 in a packet: ${usualDelta.toFixed(2)} us in a client as it comes, ${bareDelta.toFixed(2)} without its timers`,
  );
  expect(by64 / usualDelta).toBeLessThan(limits.delta);
});
