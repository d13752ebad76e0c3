/** One long history: many sessions, a fault every five seconds, and processes that live through all of it. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { check } from "../chaos/campaign.ts";
import type { Sample } from "../chaos/history.ts";
import { bundleChaosNodes } from "../chaos/nodes/bundle.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { percentile } from "../kit/distribution.ts";
import { firstSeed as seed, runs } from "../kit/runs.ts";

const minutes = Number(process.env["MINUTES"] ?? runs(4, 80));
const sessions = Number(process.env["SESSIONS"] ?? runs(40, 200));
/** At the end all sessions are asked at once, and their runs take turns by the limits that the processes share. */
const restMs = 15_000 + sessions * 1_000;
/** A session has something to do about so often, however many there are. */
const peoplePauseMs = [sessions * 500, sessions * 1_500] as const;

let programs: NodePrograms;

beforeAll(async () => {
  programs = await bundleChaosNodes();
}, 120_000);
afterAll(() => programs[Symbol.asyncDispose]());

/** The middle of what was held in a part of the time, by each process. */
function middleOf(
  samples: readonly Sample[],
  [from, to]: readonly [number, number],
  pick: (sample: Sample) => number,
): ReadonlyMap<string, number> {
  const names = new Set(samples.map(({ name }) => name));
  return new Map(
    [...names].map((name) => {
      const own = samples.filter((sample) => sample.name === name);
      const part = own.slice(Math.floor(own.length * from), Math.ceil(own.length * to));
      return [name, percentile(part.map(pick), 0.5)];
    }),
  );
}

const heapOf = ({ stats }: Sample): number => stats.heapBytes;
const handlesOf = ({ stats }: Sample): number =>
  Object.values(stats.resources).reduce((sum, count) => sum + count, 0);

it(
  "a deployment under faults for long loses and doubles nothing, and holds no more at the end than before",
  { timeout: (minutes + 20) * 60_000 },
  async () => {
    console.log(`SEED=${seed}`); // printed before it may fail
    vi.spyOn(console, "error").mockImplementation(() => undefined);

    const { faults, samples, connections, answers } = await check({
      seed,
      programs,
      drives: "pool",
      sessions,
      pages: 4,
      peoplePauseMs,
      faultMs: minutes * 60_000,
      pauseMs: [4_500, 5_500],
      restMs,
      sampleMs: (minutes * 60_000) / 100,
    });

    const figures = [heapOf, handlesOf].map((pick) => {
      const before = middleOf(samples, [0.25, 0.5], pick);
      const end = middleOf(samples, [0.75, 1], pick);
      return [...end].map(([name, value]) => ({ name, ratio: value / (before.get(name) ?? 0) }));
    });
    const shown = figures.map((each) =>
      each.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(", "),
    );
    console.log(
      `count: soak (seed ${seed}): ${minutes} minutes, ${sessions} sessions, ${faults.length} faults, ${connections} connections of viewers, ${answers} answers in dialects, 0 violations; last quarter by the second: heap ${shown[0]}; handles ${shown[1]}`,
    );
    for (const { name, ratio } of figures.flat()) expect(ratio, name).toBeLessThan(1.25);
  },
);
