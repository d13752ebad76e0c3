import { systemClock } from "@millrace/core/memory";
import { createHub } from "@millrace/server/hub";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import type { PostgresSpace } from "../../scripts/services/shared.ts";
import { firstSeed, runs } from "../kit/runs.ts";
import { openNode, pollMs } from "./kit/viewer-group.ts";
import type { Node } from "./kit/viewer-group.ts";
import { Contest } from "./kit/contest.ts";
import type { Outcome, Parties } from "./kit/contest.ts";
import { numbersFrom } from "../crash/seed.ts";

const campaign = process.env["CAMPAIGN"] === "1";
vi.setConfig({ testTimeout: campaign ? 24 * 3_600_000 : 600_000, hookTimeout: 120_000 });

const wanted = Number(process.env["OVERLAPS"] ?? runs(2_000, 50_000, 500));
const atOnce = 24;
/** The seed of the first session. Each further one has the next. `SEED` with `OVERLAPS=1` plays one again. */

let database: PostgresSpace;
let nodes: readonly Node[] = [];
let parties: Parties;

beforeAll(async () => {
  database = await sharedPostgres();
  const redis = await sharedRedis();
  const engines = { postgres: database.url, redis: redis.url, prefix: redis.prefix };
  const open = (): Node => openNode(engines);
  const [one, other, follower, near, far] = [open(), open(), open(), open(), open()];
  nodes = [one, other, follower, near, far];
  await one.store.migrate();
  const hubOf = ({ store, log }: Pick<Node, "store" | "log">) =>
    createHub({ store, log, clock: systemClock, pollMs });
  const hubs = [hubOf(near), hubOf(hardOfHearing(far))] as const;
  parties = { writers: [one, other], follower: hardOfHearing(follower), hubs };
});

afterAll(async () => {
  for (const hub of parties.hubs) hub[Symbol.dispose]();
  for (const node of nodes) await node[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Viewers may miss anything that is announced: one in twenty is lost to them. */
function hardOfHearing({ store, log }: Node): Pick<Node, "store" | "log"> {
  const random = numbersFrom(firstSeed);
  async function* some<T>(all: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    for await (const one of all) if (random() >= 0.05) yield one;
  }
  return {
    store,
    log: { ...log, tail: async (uid, options) => some(await log.tail(uid, options)) },
  };
}

describe("writers that supersede each other at any moment", () => {
  it("leave one item for each reply, which is what every viewer ends with", async () => {
    const sum: Outcome = { overlaps: 0, pairs: 0, attempts: 0, fences: 0, items: 0, messages: 0 };
    const failures: string[] = [];
    let next = firstSeed;
    const work = async (): Promise<void> => {
      while (sum.overlaps < wanted && failures.length < 5) {
        const seed = next;
        next += 1;
        try {
          const found = await Contest.play(parties, `contest_${seed}`, numbersFrom(seed));
          for (const key of Object.keys(sum) as (keyof Outcome)[]) sum[key] += found[key];
        } catch (error) {
          failures.push(`seed ${seed}: ${String(error)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: wanted === 1 ? 1 : atOnce }, work));

    console.log(
      `count: forced overlaps, ${sum.overlaps} (${sum.pairs} pairs), ${sum.attempts} attempts, ${sum.fences} fences, ${sum.items} items, ${sum.messages} messages, seeds ${firstSeed} to ${next - 1}, ${failures.length} failures`,
    );
    expect(failures).toStrictEqual([]);
    expect(sum.overlaps).toBeGreaterThanOrEqual(wanted);
  });
});
