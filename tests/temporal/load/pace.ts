import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../../kit/distribution.ts";
import type { Ask } from "./ask.ts";
import type { Bed } from "./bed.ts";
import type { LoadRun, Side } from "./side.ts";
import { sharesOf, since } from "./spent.ts";

export interface RampOptions {
  /** How many runs are added at a time, and how many there are at most. */
  readonly step: number;
  readonly most: number;
  readonly perSecond: number;
  /** How long each number of runs is held. */
  readonly windowMs: number;
  /** The pace is held while 99 of 100 deltas are late by less than this. */
  readonly lateMs: number;
}

/**
 * The most runs that keep their pace: adds runs until it is not held, or there are as many as asked for. At
 * the end all are stopped, and the transcripts of `verified` are as they were written.
 */
export async function mostRuns(bed: Bed, side: Side, options: RampOptions) {
  const { step, most, perSecond, windowMs, lateMs } = options;
  const ask: Ask = { deltas: 3_600 * perSecond, perSecond };
  const runs: LoadRun[] = [];
  let held = 0;
  for (let isHeld = true; isHeld && runs.length < most;) {
    runs.push(...(await side.begin(step, ask)));
    if (!(await side.stream(runs))) break;
    takeLate(runs); // of the start
    const before = bed.spent(side);
    const start = performance.now();
    await sleep(windowMs); // the time is what is measured
    const seconds = (performance.now() - start) / 1_000;
    const shares = sharesOf(since(before, bed.spent(side)), seconds);
    const late = takeLate(runs);
    const p99 = percentile(late, 0.99);
    const pace = late.length / runs.length / seconds;
    isHeld = p99 < lateMs && pace > 0.9 * perSecond;
    if (isHeld) held = runs.length;
    const shown = `late p50 ${percentile(late, 0.5)} ms, p99 ${p99} ms`;
    console.log(
      `${side.name}: ${runs.length} runs, ${pace.toFixed(1)} deltas/s each, ${shown}; ${shares}`,
    );
  }
  await side.stop(runs);
  await side.ended(runs);
  return { held, begun: runs.length, verified: await side.verified(runs) };
}

function takeLate(runs: readonly LoadRun[]): readonly number[] {
  return runs.flatMap(({ reader }) => reader.takeLate());
}
