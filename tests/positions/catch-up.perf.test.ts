import type { EventLog } from "@millrace/core/ports";
import { memoryEventLog, systemClock } from "@millrace/core/memory";
import { createHub } from "@millrace/server/hub";
import { redisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { sharedRedis } from "../../scripts/services/shared.ts";
import { openLongReply, take } from "./long-reply.ts";
import { textOf } from "./viewer.ts";

const deltas = 20_000;
const rounds = 7;
const clock = systemClock;

it.each<[string, () => Promise<EventLog & Partial<AsyncDisposable>>]>([
  ["memory", async () => memoryEventLog()],
  ["Redis", openRedisLog],
])(
  `catching up with a reply of ${deltas} deltas costs less than a tenth of replaying it, on %s`,
  { timeout: 240_000 },
  async (engine, openLog) => {
    const log = await openLog();
    await using reply = await openLongReply(log);
    for (let at = 1; at < deltas; at += 1) await reply.say(`word${at % 10} `);
    let place = await reply.say("end");
    const { store, start } = reply;
    const texts = [...reply.texts];
    const replay = () => texts.reduce(take, start);
    const final = replay();
    const middle = Math.floor(texts.length / 2);
    const cursor = reply.cursors[middle];
    if (cursor === undefined) throw new Error("there is no message in the middle");
    const half = { cursor, state: texts.slice(0, middle + 1).reduce(take, start) };
    // A node keeps the state of a session while it has a viewer there.
    using hub = createHub({ store, log, clock });
    expect(textOf(await reply.join(hub, place))).toBe(textOf(final));
    expect(textOf(await reply.join(hub, place, half))).toBe(textOf(final));

    const costs = { replayed: Infinity, late: Infinity, back: Infinity, first: Infinity };
    for (let round = 0; round < rounds; round += 1) {
      costs.replayed = Math.min(costs.replayed, await cpuOf(async () => replay()));
      // Something new each time, so that no viewer is served what was made for another.
      place = await reply.say("more ");
      await reply.join(hub, place, half);
      place = await reply.say("more ");
      costs.late = Math.min(costs.late, await cpuOf(() => reply.join(hub, place)));
      place = await reply.say("more ");
      costs.back = Math.min(costs.back, await cpuOf(() => reply.join(hub, place, half)));
      using other = createHub({ store, log, clock });
      costs.first = Math.min(costs.first, await cpuOf(() => reply.join(other, place)));
    }

    const share = (cost: number): string => (cost / costs.replayed).toFixed(4);
    console.log(
      `count: catch-up on ${engine}, ${deltas} deltas in ${texts.length} batches, of the CPU of ` +
        `replaying them (${costs.replayed.toFixed(1)} ms): a late joiner ${share(costs.late)}, ` +
        `from half way ${share(costs.back)}, the first on a node ${share(costs.first)}`,
    );
    await log[Symbol.asyncDispose]?.();
    expect(costs.late / costs.replayed).toBeLessThan(0.1);
    expect(costs.back / costs.replayed).toBeLessThan(0.1);
    expect(costs.first / costs.replayed).toBeLessThan(0.1);
  },
);

async function openRedisLog(): Promise<EventLog & AsyncDisposable> {
  const { url, prefix } = await sharedRedis();
  return redisLog({ url, prefix });
}

/** Milliseconds of this process's time on a core. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}
