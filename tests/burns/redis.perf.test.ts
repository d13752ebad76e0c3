import { loadavg } from "node:os";
import { postgresStore } from "@millrace/stores/postgres";
import { expect, it } from "vitest";
import { sharedPostgres } from "../../scripts/services/shared.ts";
import { firstSeed as seed, runs } from "../kit/runs.ts";
import { redisFaults } from "../../packages/stores/src/testing/redis-faults.ts";
import { Cell } from "./kit/cell.ts";
import { Random } from "../kit/random.ts";

/** Half of the default, so that tests need not wait long for a connection to be closed. */
const timeoutMs = 1_500;
/** The time in which every viewer has to converge. */
const limitMs = 10_000;
const faultCount = Number(process.env["FAULTS"] ?? runs(500, 5_000));
/** Each with a Redis of its own: what one waits for costs the others nothing. */
const cellCount = 8;

const quick = redisFaults({ awayMs: 20, momentMs: 80, silentMs: 2.5 * timeoutMs });
/** Those that take long come less often. */
const weights: Readonly<Record<string, number>> = {
  "is killed and starts again empty": 3,
  "is stopped for longer than anybody waits": 1,
};
const faults = Object.entries(quick).flatMap(([name, fault]) =>
  Array.from({ length: weights[name] ?? 4 }, () => ({ name, fault })),
);

it(
  "every viewer of every session converges after whatever befalls Redis, and no committed item is lost or changed",
  { timeout: 1_200_000 * Math.max(1, faultCount / 500) },
  async () => {
    await using database = await sharedPostgres();
    await using store = postgresStore({ url: database.url });
    await store.migrate();
    await using otherStore = postgresStore({ url: database.url });
    await using stack = new AsyncDisposableStack();
    const cells = await Promise.all(
      Array.from({ length: cellCount }, async (_, at) => {
        const options = { store, otherStore, sessions: 3, timeoutMs };
        return stack.use(await Cell.open({ ...options, name: `cell${at}`, seed: seed + at }));
      }),
    );
    console.log(`SEED=${seed}`); // printed before it may fail
    const random = new Random(seed);
    const plan = Array.from({ length: faultCount }, () => random.pick(faults));
    const happened = new Map<string, number>();

    await Promise.all(
      cells.map(async (cell) => {
        for (let next = plan.pop(); next !== undefined; next = plan.pop()) {
          happened.set(next.name, (happened.get(next.name) ?? 0) + 1);
          await cell.suffer(next.name, next.fault);
        }
        await cell.finish();
      }),
    );

    const tallies = cells.map(({ tally }) => tally);
    const sessions = tallies.flatMap((tally) => tally.sessions);
    for (const id of sessions) expect(await otherStore.verify(id)).toMatchObject({ ok: true });
    const afterFaults = tallies.flatMap((tally) => tally.afterFaults).toSorted((a, b) => a - b);
    const afterEnds = tallies.flatMap((tally) => tally.afterEnds).toSorted((a, b) => a - b);
    const sum = (pick: (tally: Cell["tally"]) => number): number =>
      tallies.reduce((total, tally) => total + pick(tally), 0);
    const [load = 0] = loadavg();
    console.log(
      `count: Redis burns (seed ${seed}): ${faultCount} faults (${[...happened].map(([name, count]) => `${name}: ${count}`).join(", ")}), ${sessions.length} sessions, ${sum(({ facts }) => facts)} facts, ${sum(({ joins }) => joins)} joins, ${afterFaults.length} convergences after faults (median ${at(afterFaults, 0.5)} ms, p99 ${at(afterFaults, 0.99)} ms, slowest ${at(afterFaults, 1)} ms), ${afterEnds.length} after ends (p99 ${at(afterEnds, 0.99)} ms, slowest ${at(afterEnds, 1)} ms), 0 items lost or changed, load ${load.toFixed(1)}`,
    );
    expect(afterFaults.length).toBeGreaterThan(faultCount * 2);
    expect(Math.max(at(afterFaults, 1), at(afterEnds, 1))).toBeLessThanOrEqual(limitMs);
    expect(sum(({ facts }) => facts)).toBeGreaterThan(faultCount);
  },
);

function at(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
}
