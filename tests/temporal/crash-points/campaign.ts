import type { TemporalServer } from "../../../scripts/services/temporal.ts";
import { Random } from "../../kit/random.ts";
import { retryWhenNoisy } from "../../kit/retry-when-noisy.ts";
import { runShared, sharedPoints } from "./everywhere.ts";
import type { Lane } from "./lane.ts";
import { heartbeatMs } from "./lane.ts";
import { points } from "./points.ts";
import { runTrial } from "./trial.ts";
import type { Trial } from "./trial.ts";

export interface CampaignOptions {
  readonly lanes: readonly Lane[];
  readonly temporal: TemporalServer;
  readonly seed: number;
  /** How often each point is reached. */
  readonly times: number;
  /** Some of the points, by their ids. */
  readonly ids: readonly string[];
}

/** Until a run has ended and is shown, after its process was killed or the fault is over. */
export const limitMs: number = heartbeatMs + 10_000;

/** Reaches each point so often: those of one session in all lanes side by side, then those of all lanes. */
export async function reachPoints(options: CampaignOptions): Promise<readonly Trial[]> {
  const { lanes, temporal, seed, times, ids } = options;
  const trials: Trial[] = [];
  const own = points.filter(({ id }) => ids.includes(id));
  const jobs = Array.from({ length: times }, (_, at) => own.map((point) => ({ point, at })))
    .flat()
    .values();
  const work = async (lane: Lane): Promise<void> => {
    for (const { point, at } of jobs) {
      const random = new Random(seed + 1_000 * points.indexOf(point) + at);
      const reach = (name: string): Promise<readonly Trial[]> =>
        runTrial(lane, point, name, random).then((trial) => [trial]);
      trials.push(...(await measure(point.id, `${point.id}-${at}`, reach)));
    }
  };
  await Promise.all(lanes.map(work));
  for (const point of sharedPoints.filter(({ id }) => ids.includes(id)))
    for (let at = 0; at < times / lanes.length; at += 1) {
      const place = { lanes, temporal, random: new Random(seed + at) };
      const reach = (name: string): Promise<readonly Trial[]> => runShared(point, place, name);
      trials.push(...(await measure(point.id, `${point.id}-${at}`, reach)));
    }
  return trials;
}

/** Measures again what took too long. What is violated is kept. */
async function measure(
  point: string,
  name: string,
  reach: (name: string) => Promise<readonly Trial[]>,
): Promise<readonly Trial[]> {
  let tries = 0;
  const once = async (): Promise<readonly Trial[]> => {
    tries += 1;
    try {
      return await reach(`${name}-${tries}`);
    } catch (error) {
      return [{ point, ms: 0, violations: [`${name}: ${String(error)}`] }];
    }
  };
  return await retryWhenNoisy(once, (trials) => trials.every(isWithin));
}

function isWithin({ ms, violations }: Trial): boolean {
  return violations.length > 0 || ms <= limitMs;
}
