import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startRedis } from "../../../../scripts/services/redis.ts";
import type { Server } from "../../../../scripts/services/server.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { command, redisFaults } from "../testing/redis-faults.ts";
import { openRedisStage, until } from "../testing/redis-stage.ts";
import type { Watching, Writing } from "../testing/redis-stage.ts";
import { runs } from "../../../../tests/kit/runs.ts";

/** Short, so that tests need not wait long for what is given up. */
const timeoutMs = 600;

const faults = redisFaults({ awayMs: 300, momentMs: 200, silentMs: 4 * timeoutMs });

/** Three viewers: two through one log, as on one server, and one elsewhere. */
async function withAudience(
  run: (on: {
    readonly server: Server;
    readonly writing: Writing;
    readonly viewers: readonly Watching[];
    /** All show what was said so far. Resolves with the milliseconds that took. */
    readonly converge: () => Promise<number>;
  }) => Promise<void>,
): Promise<void> {
  await using server = await startRedis();
  await using far = keyedRedisLog({ url: server.url, timeoutMs });
  await using near = keyedRedisLog({ url: server.url, timeoutMs });
  const stage = await openRedisStage();
  const writing = await stage.start(near, 1);
  await using one = stage.watch(near);
  await using two = stage.watch(far);
  await using three = stage.watch(far);
  const viewers = [one, two, three];
  const converge = (): Promise<number> =>
    until(() => viewers.every((viewer) => viewer.text() === writing.said()), "all show all of it");
  await run({ server, writing, viewers, converge });
  expect(await writing.commit()).toBe(true);
  await until(() => viewers.every((viewer) => viewer.items() === 1), "all show the item");
  expect(viewers.map((viewer) => viewer.text())).toEqual(viewers.map(() => writing.said()));
  expect(viewers.map((viewer) => viewer.misfits())).toEqual([0, 0, 0]);
  expect(viewers.map((viewer) => viewer.items())).toEqual([1, 1, 1]);
}

/** Says something every few milliseconds until it is told to stop. */
function talk(writing: Writing): () => Promise<void> {
  const stop = new AbortController();
  const talking = (async (): Promise<void> => {
    for (let word = 0; !stop.signal.aborted; word += 1) {
      writing.say(`${word} `);
      await sleep(3);
    }
  })();
  return async () => {
    stop.abort();
    await talking;
  };
}

describe("viewers of a session whose Redis", () => {
  for (const [what, fault] of Object.entries(faults)) {
    it(`${what} see all of a text before it is committed`, { timeout: patience }, async () => {
      await withAudience(async ({ server, writing, converge, viewers }) => {
        const quiet = talk(writing);
        await until(() => viewers.every((viewer) => viewer.text().length > 50), "they watch");
        await fault(server);
        await sleep(100);
        await quiet();
        const ms = await converge();
        console.log(`count: Redis ${what}: converged after ${Math.round(ms)} ms`);
      });
    });
    it(`${what} while nobody speaks see the rest of the text`, { timeout: patience }, async () => {
      await withAudience(async ({ server, writing, converge }) => {
        writing.say("before, ");
        await converge();
        await fault(server);
        writing.say("after");
        await converge();
      });
    });
  }

  it("suffers all of that in any order see all of the text", { timeout: patience }, async () => {
    const seed = Date.now() % 2 ** 31;
    const round = fc.record({
      fault: fc.constantFrom(...Object.values(faults)),
      afterMs: fc.nat({ max: 100 }),
    });
    const rounds = fc.sample(round, { seed, numRuns: runs(10, 500) });
    await withAudience(async ({ server, writing, converge, viewers }) => {
      let slowest = 0;
      for (const { fault, afterMs } of rounds) {
        const quiet = talk(writing);
        await sleep(afterMs);
        await fault(server);
        await quiet();
        slowest = Math.max(slowest, await converge());
      }
      const joins = viewers.reduce((sum, viewer) => sum + viewer.joins(), 0);
      console.log(
        `count: ${rounds.length} faults (seed ${seed}), ${joins} joins, ${writing.said().length} characters, slowest convergence ${Math.round(slowest)} ms`,
      );
    });
  });
});

it("a zombie that fills a flushed log is shown to nobody", { timeout: patience }, async () => {
  await using server = await startRedis();
  await using log = keyedRedisLog({ url: server.url });
  await using other = keyedRedisLog({ url: server.url });
  const stage = await openRedisStage();
  const zombie = await stage.start(log, 1);
  await using early = stage.watch(other);
  zombie.say("of the first attempt");
  await until(() => early.text() === zombie.said(), "the first attempt is seen");
  // It does not hear that it was fenced: it writes next after the flush.
  const holder = await stage.start(other, 2);
  holder.say("of the second, ");
  await until(() => early.text() === holder.said(), "the second attempt is seen");
  await using middle = stage.watch(log);
  await until(() => middle.text() === holder.said(), "who joins sees the second attempt");

  await command(server, ["FLUSHALL"]);
  zombie.say(" and again");
  await zombie.writer.flush();
  await using late = stage.watch(log);
  await until(() => late.text() === holder.said(), "who joins sees the second attempt only");
  holder.say("and its end");

  const viewers = [early, middle, late];
  await until(() => viewers.every((viewer) => viewer.text() === holder.said()), "all see the end");
  expect(await zombie.commit()).toBe(false);
  expect(await holder.commit()).toBe(true);
  await until(() => viewers.every((viewer) => viewer.items() === 1), "all show the item");
  expect(viewers.map((viewer) => viewer.text())).toEqual(viewers.map(() => holder.said()));
});
