import { expect, it } from "vitest";
import { startTemporal } from "../../../scripts/services/temporal.ts";
import { bundleTemporalNodes } from "../../kit/deployment/bundle-temporal.ts";
import { distribution } from "../../kit/distribution.ts";
import { Random } from "../../kit/random.ts";
import { runs } from "../../kit/runs.ts";
import { Lane, heartbeatMs } from "./lane.ts";
import { runShared, sharedPoints } from "./everywhere.ts";
import { points } from "./points.ts";
import { runTrial } from "./trial.ts";
import type { Trial } from "./trial.ts";

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const times = Number(process.env["TIMES"] ?? runs(3, 25));
const laneCount = Number(process.env["LANES"] ?? 4);
const only = process.env["POINT"];
const limitMs = heartbeatMs + 10_000;

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
    const lanes = await Promise.all(
      Array.from({ length: laneCount }, async () =>
        stack.use(await Lane.start(programs, temporal)),
      ),
    );
    const chosen = points.filter(({ id }) => only === undefined || only.includes(id));
    const jobs = Array.from({ length: times }, (_, at) => chosen.map((point) => ({ point, at })))
      .flat()
      .values();
    const trials: Trial[] = [];
    const work = async (lane: Lane): Promise<void> => {
      for (const { point, at } of jobs) {
        const random = new Random(seed + points.indexOf(point) * 1_000 + at);
        const name = `${point.id}-${at}`;
        const trial = await runTrial(lane, point, name, random).catch((error: unknown) => ({
          point: point.id,
          ms: Infinity,
          violations: [`${name}: ${String(error)}`],
        }));
        trials.push(trial);
        if (process.env["VERBOSE"])
          console.log(name, Math.round(trial.ms), trial.violations.join("\n"));
      }
    };
    await Promise.all(lanes.map(work));
    const shared = sharedPoints.filter(({ id }) => only === undefined || only.includes(id));
    for (const point of shared)
      for (let at = 0; at < times / laneCount; at += 1) {
        const place = { lanes, temporal, random: new Random(seed + at) };
        trials.push(...(await runShared(point, place, `${point.id}-${at}`)));
      }

    for (const { id, when } of [...chosen, ...shared]) {
      const own = trials.filter(({ point }) => point === id).map(({ ms }) => ms);
      console.log(`${id}, ${when}: ${distribution(own)}`);
    }
    const failures = trials.flatMap(({ point, violations }) =>
      violations.map((violation) => `${point} ${violation}`),
    );
    console.log(
      `count: crash points with Temporal (seed ${seed}), ${trials.length} executions, ${failures.length} failures`,
    );
    expect(failures).toEqual([]);
    expect(Math.max(...trials.map(({ ms }) => ms))).toBeLessThanOrEqual(limitMs);
    expect(lanes.flatMap(({ deployment }) => deployment.strays)).toEqual([]);
  },
);
