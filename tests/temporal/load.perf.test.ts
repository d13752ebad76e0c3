import type { Fact } from "@millrace/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { textOfItem } from "../kit/deployment/paced-agent.ts";
import { distribution, percentile } from "../kit/distribution.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";
import { runs } from "../kit/runs.ts";
import { readReply } from "./load/ask.ts";
import { Bed } from "./load/bed.ts";
import { costPerDelta, costPerHeartbeat, costPerStep, idleCost } from "./load/cost.ts";
import { measurePauses } from "./load/latency.ts";
import { rampRuns } from "./load/pace.ts";
import { sharesOf, since } from "./load/spent.ts";
import { watchRun } from "./load/watch-run.ts";

const perSecond = 30;
const patience = { timeout: runs(120_000, 1_800_000) };

let bed: Bed;

beforeAll(async () => {
  bed = await Bed.start();
  // Code that has not run yet costs more.
  const ask = { deltas: 50, perSecond: 200, rounds: 2 };
  await Promise.all(
    [bed.inline, bed.temporal].map(async (side) => side.ended(await side.beginMany(10, ask))),
  );
  await bed.rest();
}, 240_000);
afterAll(() => bed[Symbol.asyncDispose]());

it("a delta costs a worker of Temporal what it costs one without", patience, async () => {
  const options = {
    runs: runs(20, 100),
    sizes: runs(0, 1) === 0 ? [200, 600, 50] : [400, 1_600, 100],
    perSecond: runs(200, perSecond),
  };

  const { inline, temporal, ratio, points } = await retryWhenNoisy(
    () => costPerDelta(bed, options),
    (figures) => figures.ratio <= 1.2,
  );

  console.log(JSON.stringify(points));
  console.log(
    `count: worker's processor time, ${options.runs} runs of ${options.sizes.join(", ")} deltas: ${us(temporal.slope)} a delta and ${ms(temporal.fixed)} a run with Temporal, ${us(inline.slope)} and ${ms(inline.fixed)} without; ratio ${ratio.toFixed(2)}`,
  );
  expect(ratio).toBeLessThanOrEqual(1.2);
});

it("a step and a heartbeat cost Temporal and its database milliseconds", patience, async () => {
  const idle = await idleCost(bed, runs(1_000, 10_000));
  const often = await bed.addSide("often", 500);

  const step = await costPerStep(bed, { runs: runs(4, 20), rounds: [2, 10], idle });
  const beat = await costPerHeartbeat(bed, {
    runs: runs(20, 40),
    silentMs: runs(3_000, 15_000),
    often,
  });

  console.log(
    `count: processor time a step: server ${ms(step.server)}, its database ${ms(step.database)}, worker ${ms(step.worker)}, ${ms(step.inline)} without Temporal; a heartbeat (${beat.beats}): server ${ms(beat.server)}, database ${ms(beat.database)}; idle server ${ms(idle.server)} and database ${ms(idle.database)} a second`,
  );
  expect(beat.beats).toBeGreaterThan(0);
});

it("a step waits some tens of milliseconds for Temporal", patience, async () => {
  const { inline, temporal } = await measurePauses(bed, runs(2, 10), 10);

  console.log(`count: from step to step with Temporal: ${distribution(temporal)}`);
  console.log(`count: from step to step without: ${distribution(inline)}`);
  const added = percentile(temporal, 0.5) - percentile(inline, 0.5);
  console.log(`count: added by Temporal to a step: ${added} ms (medians)`);
  expect(temporal).toHaveLength(inline.length);
});

it("many runs at once stream at their pace, and every transcript is whole", patience, async () => {
  const side = bed.temporal;
  const count = runs(20, 200);
  const deltas = runs(3, 60) * perSecond;
  const before = bed.spent(side);
  const start = performance.now();
  const begun = await side.beginMany(count, { deltas, perSecond });
  using stack = new DisposableStack();
  const watched = begun.slice(0, 3).map((run) => stack.use(watchRun(side, run, perSecond)));
  await side.streaming(begun);
  const startMs = performance.now() - start;
  const facts = await side.ended(begun);
  const seconds = (performance.now() - start) / 1_000;
  const shares = sharesOf(since(before, bed.spent(side)), seconds);

  const texts = facts.map(replyOf);
  const replies = texts.map(readReply);
  const late = replies.flatMap(({ lateMs }) => lateMs);
  const lags = watched.flatMap((one) => one.lags);
  console.log(
    `count: ${count} runs of ${deltas} deltas at ${perSecond}/s, all stream after ${Math.round(startMs)} ms; late ${distribution(late)}; shown after ${distribution(lags)}; ${shares}`,
  );
  expect(replies.filter(({ isWhole }) => isWhole)).toHaveLength(count);
  expect(late).toHaveLength(count * deltas);
  for (const { sessionId } of begun) expect((await side.store.verify(sessionId)).ok).toBe(true);
  for (const { viewer } of watched) {
    expect(viewer.checks.faults).toEqual([]);
    expect(texts).toContain(textOfItem(viewer.state?.items.toArray().at(-1)));
  }
});

it("the number of runs that keep their pace is found", patience, async () => {
  const options = {
    step: runs(10, 50),
    most: runs(20, 2_000),
    perSecond,
    windowMs: runs(1_000, 8_000),
    lateMs: 250,
  };

  const { held, runs: begun } = await rampRuns(bed, bed.temporal, options);
  await Promise.all(begun.map((run) => bed.temporal.stop(run)));
  const facts = await bed.temporal.ended(begun);

  console.log(`count: ${held} runs keep ${perSecond} deltas/s with Temporal on this machine`);
  expect(held).toBeGreaterThanOrEqual(options.step);
  expect(facts.every((one) => one.some(({ type }) => type === "run_finished"))).toBe(true);
  expect([...bed.inline.strays, ...bed.temporal.strays]).toEqual([]);
});

/** The text of the last reply. */
function replyOf(facts: readonly Fact[]): string {
  const items = facts.flatMap((fact) => (fact.type === "item_committed" ? [fact.item] : []));
  return textOfItem(items.findLast(({ author }) => author === "model"));
}

function us(seconds: number): string {
  return `${(seconds * 1e6).toFixed(1)} µs`;
}

function ms(seconds: number): string {
  return `${(seconds * 1e3).toFixed(1)} ms`;
}
