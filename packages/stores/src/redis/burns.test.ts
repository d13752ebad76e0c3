import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startRedis } from "../../../../scripts/services/redis.ts";
import type { Server } from "../../../../scripts/services/server.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { command, redisFaults } from "../testing/redis-faults.ts";
import { openRedisSession, until } from "../testing/redis-session.ts";
import type { FollowingViewer, ReplyAttempt } from "../testing/redis-session.ts";
import { firstSeed as seed, runs } from "../../../../tests/kit/runs.ts";

/** Short, so that tests need not wait long for a connection to be closed. */
const timeoutMs = 600;

const faults = redisFaults({ awayMs: 300, momentMs: 200, silentMs: 4 * timeoutMs });

/** Three viewers: two through one log, as in one process, and one through another. */
async function withViewers(
  run: (on: {
    readonly server: Server;
    readonly reply: ReplyAttempt;
    readonly viewers: readonly FollowingViewer[];
    /** Waits until all show the text written so far. Resolves to the milliseconds that took. */
    readonly converge: () => Promise<number>;
  }) => Promise<void>,
): Promise<void> {
  await using server = await startRedis();
  await using far = keyedRedisLog({ url: server.url, timeoutMs });
  await using near = keyedRedisLog({ url: server.url, timeoutMs });
  const session = await openRedisSession();
  const reply = await session.start(near, 1);
  await using one = session.watch(near);
  await using two = session.watch(far);
  await using three = session.watch(far);
  const viewers = [one, two, three];
  const converge = (): Promise<number> =>
    until(() => viewers.every((viewer) => viewer.text() === reply.written()), "all show all of it");
  await run({ server, reply, viewers, converge });
  expect(await reply.commit()).toBe(true);
  await until(() => viewers.every((viewer) => viewer.items() === 1), "all show the item");
  expect(viewers.map((viewer) => viewer.text())).toEqual(viewers.map(() => reply.written()));
  expect(viewers.map((viewer) => viewer.misfits())).toEqual([0, 0, 0]);
  expect(viewers.map((viewer) => viewer.items())).toEqual([1, 1, 1]);
}

/** Appends a word every few milliseconds until the result is called. */
function writeContinuously(reply: ReplyAttempt): () => Promise<void> {
  const stop = new AbortController();
  const writing = (async (): Promise<void> => {
    for (let word = 0; !stop.signal.aborted; word += 1) {
      reply.append(`${word} `);
      await sleep(3);
    }
  })();
  return async () => {
    stop.abort();
    await writing;
  };
}

describe("viewers of a session whose Redis", () => {
  for (const [what, fault] of Object.entries(faults)) {
    it(`${what} see all of a text before it is committed`, { timeout: patience }, async () => {
      await withViewers(async ({ server, reply, converge, viewers }) => {
        const stopWriting = writeContinuously(reply);
        await until(() => viewers.every((viewer) => viewer.text().length > 50), "they watch");
        await fault(server);
        await sleep(100);
        await stopWriting();
        const ms = await converge();
        console.log(`count: Redis ${what}: converged after ${Math.round(ms)} ms`);
      });
    });
    it(
      `${what} while nothing is written see the rest of the text`,
      { timeout: patience },
      async () => {
        await withViewers(async ({ server, reply, converge }) => {
          reply.append("before, ");
          await converge();
          await fault(server);
          reply.append("after");
          await converge();
        });
      },
    );
  }

  it("suffers all of that in any order see all of the text", { timeout: patience }, async () => {
    const round = fc.record({
      fault: fc.constantFrom(...Object.values(faults)),
      afterMs: fc.nat({ max: 100 }),
    });
    const rounds = fc.sample(round, { seed, numRuns: runs(10, 500) });
    await withViewers(async ({ server, reply, converge, viewers }) => {
      let slowest = 0;
      for (const { fault, afterMs } of rounds) {
        const stopWriting = writeContinuously(reply);
        await sleep(afterMs);
        await fault(server);
        await stopWriting();
        slowest = Math.max(slowest, await converge());
      }
      const breaks = viewers.reduce((sum, viewer) => sum + viewer.breaks(), 0);
      console.log(
        `count: ${rounds.length} faults (seed ${seed}), ${breaks} broken subscriptions, ${reply.written().length} characters, slowest convergence ${Math.round(slowest)} ms`,
      );
    });
  });
});

it(
  "a superseded writer that fills a flushed log is shown to no viewer",
  { timeout: patience },
  async () => {
    await using server = await startRedis();
    await using log = keyedRedisLog({ url: server.url });
    await using other = keyedRedisLog({ url: server.url });
    const session = await openRedisSession();
    const zombie = await session.start(log, 1);
    await using early = session.watch(other);
    zombie.append("of the first attempt");
    await until(() => early.text() === zombie.written(), "the first attempt is seen");
    // The first writer is not refused before the flush: it writes next after it.
    const holder = await session.start(other, 2);
    holder.append("of the second, ");
    await until(() => early.text() === holder.written(), "the second attempt is seen");
    await using middle = session.watch(log);
    await until(() => middle.text() === holder.written(), "a new viewer sees the second attempt");

    await command(server, ["FLUSHALL"]);
    zombie.append(" and again");
    await zombie.writer.flush();
    await using late = session.watch(log);
    await until(
      () => late.text() === holder.written(),
      "a new viewer sees the second attempt only",
    );
    holder.append("and its end");

    const viewers = [early, middle, late];
    await until(
      () => viewers.every((viewer) => viewer.text() === holder.written()),
      "all see the end",
    );
    expect(await zombie.commit()).toBe(false);
    expect(await holder.commit()).toBe(true);
    await until(() => viewers.every((viewer) => viewer.items() === 1), "all show the item");
    expect(viewers.map((viewer) => viewer.text())).toEqual(viewers.map(() => holder.written()));
  },
);
