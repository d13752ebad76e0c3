import { expect, it } from "vitest";
import { startTemporal } from "../../../scripts/services/temporal.ts";
import { bundleTemporalNodes } from "../../kit/deployment/bundle-temporal.ts";
import { distribution } from "../../kit/distribution.ts";
import { firstSeed as seed, runs } from "../../kit/runs.ts";
import { limitMs, reachPoints } from "./campaign.ts";
import { sharedPoints } from "./everywhere.ts";
import { Lane } from "./lane.ts";
import { points } from "./points.ts";

const times = Number(process.env["TIMES"] ?? runs(3, 25));
/** Deployments wait most of the time. */
const laneCount = Number(process.env["LANES"] ?? 4);
const all = [...points, ...sharedPoints].toSorted((one, other) => (one.id < other.id ? -1 : 1));
const chosen = all.filter(({ id }) => (process.env["POINTS"] ?? id).includes(id));

it("has all crash points", () => {
  const numbers = Array.from({ length: 28 }, (_, at) => `C${String(at + 1).padStart(2, "0")}`);
  expect(all.map(({ id }) => id)).toEqual(numbers);
});

it(
  "a run whose processes are killed at any crash point ends in time, with nothing lost, doubled or done twice",
  { timeout: 900_000 * Math.max(1, times / 3) },
  async () => {
    console.log(`SEED=${seed}`); // printed before it may fail
    await using programs = await bundleTemporalNodes({
      worker: new URL("./worker-node.ts", import.meta.url),
      web: new URL("./web-node.ts", import.meta.url),
    });
    await using stack = new AsyncDisposableStack();
    const temporal = stack.use(await startTemporal());
    const start = async (): Promise<Lane> => stack.use(await Lane.start(programs, temporal));
    const lanes = await Promise.all(Array.from({ length: laneCount }, start));

    const ids = chosen.map(({ id }) => id);
    const trials = await reachPoints({ lanes, temporal, seed, times, ids });

    for (const { id, when } of chosen) {
      const own = trials.filter(({ point }) => point === id);
      console.log(`${id}, ${when}: ${distribution(own.map(({ ms }) => ms))}`);
    }
    const violations = trials.flatMap((trial) =>
      trial.violations.map((what) => `${trial.point} ${what}`),
    );
    const ms = trials.map((trial) => trial.ms);
    const atStations = new Set(
      points.flatMap(({ id, reached }) => ("station" in reached ? [id] : [])),
    );
    const killed = trials.filter(({ point }) => atStations.has(point)).length;
    console.log(
      `count: crash points with Temporal (seed ${seed}), ${chosen.length} points, ${trials.length} executions, ${killed} of them killed at a call, ${violations.length} violations; until a run has ended and is shown: ${distribution(ms)}`,
    );
    expect(violations).toEqual([]);
    expect(Math.max(...ms)).toBeLessThanOrEqual(limitMs);
    expect(lanes.flatMap(({ deployment }) => deployment.strays)).toEqual([]);
  },
);
