import type { Fact } from "@millrace/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { textOfItem } from "../kit/deployment/paced-agent.ts";
import { distribution } from "../kit/distribution.ts";
import type { Line } from "../kit/fit-line.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";
import { runs } from "../kit/runs.ts";
import { until } from "../kit/until.ts";
import { readReply } from "./load/ask.ts";
import { Bed } from "./load/bed.ts";
import { costPerDelta, costPerHeartbeat, costPerStep, idleCost, stepsOf } from "./load/cost.ts";
import { measurePauses } from "./load/latency.ts";
import { mostRuns } from "./load/pace.ts";
import { sharesOf, since } from "./load/spent.ts";
import { watchRun } from "./load/watch-run.ts";

const isCampaign = runs(0, 1) === 1;
const perSecond = 30;
const patience = { timeout: runs(120_000, 1_800_000) };

let bed: Bed;

beforeAll(async () => {
  // In CI deltas come so fast that the window decides what one costs.
  bed = await Bed.start({ windowMs: isCampaign ? undefined : 25 });
  // Code that has not run yet costs more.
  const ask = { deltas: 50, perSecond: 200, rounds: 2 };
  await Promise.all(
    [bed.inline, bed.temporal].map(async (side) => side.ended(await side.begin(10, ask))),
  );
  await bed.rest();
}, 240_000);
afterAll(() => bed[Symbol.asyncDispose]());

it("a delta costs a worker of Temporal what it costs one without", patience, async () => {
  const options = {
    runs: runs(20, 100),
    sizes: isCampaign ? [400, 1_600, 100] : [1_000, 3_000, 100],
    perSecond: runs(600, perSecond),
  };

  const { inline, temporal, ratio } = await retryWhenNoisy(
    () => costPerDelta(bed, options),
    (figures) => figures.ratio <= 1.2,
  );

  const shown = ({ slope, fixed }: Line): string => `${us(slope)} a delta and ${ms(fixed)} a run`;
  count(
    `processor time of a worker, ${options.runs} runs of ${options.sizes.join(", ")} deltas at ${options.perSecond}/s: ${shown(temporal)} with Temporal, ${shown(inline)} without; ratio ${ratio.toFixed(2)}`,
  );
  expect(ratio).toBeLessThanOrEqual(1.2);
});

it("a short step is two requests of its worker, and no heartbeat", patience, async () => {
  const { temporal } = bed;
  const operations = [
    "RespondActivityTaskCompleted",
    "RespondWorkflowTaskCompleted",
    "RecordActivityTaskHeartbeat",
  ];
  const requests = (): Promise<readonly number[]> =>
    Promise.all(operations.map((operation) => temporal.requests(operation)));
  const size = { runs: runs(4, 20), rounds: [2, runs(10, 20)] };
  const idle = await idleCost(bed, runs(1_000, 10_000));
  const before = await requests();

  const cost = await costPerStep(bed, { ...size, idle });

  const made = (await requests()).map((number, at) => number - (before[at] ?? 0));
  const steps = size.runs * size.rounds.reduce((sum, rounds) => sum + stepsOf(rounds), 0);
  count(
    `processor time of a step: server ${ms(cost.server)}, its database ${ms(cost.database)}, worker ${ms(cost.worker)}, and ${ms(cost.inline)} without Temporal; ${made.join(", ")} requests for ${steps} steps; idle server ${ms(idle.server)} and database ${ms(idle.database)} a second`,
  );
  const [activities, tasks = 0, heartbeats] = made;
  expect({ activities, heartbeats }).toEqual({ activities: steps, heartbeats: 0 });
  // One before the first step of each run too.
  expect(tasks).toBeLessThanOrEqual(steps + size.runs * size.rounds.length);
});

it("a silent step sends heartbeats, seldom by default", patience, async () => {
  const often = await bed.addSide("often", 500);
  const size = { runs: runs(20, 40), silentMs: runs(1_500, 15_000) };

  const { server, database, few, many } = await costPerHeartbeat(bed, { ...size, often });

  count(
    `processor time of a heartbeat: server ${ms(server)}, its database ${ms(database)}; ${many} and ${few} in ${size.runs} replies of ${size.silentMs} ms`,
  );
  const perStep = many / size.runs;
  expect(perStep).toBeGreaterThan(size.silentMs / 500 / 2);
  expect(few / size.runs).toBeLessThanOrEqual(size.silentMs / 5_000);
});

it("Temporal adds less than a quarter of a second to a step", patience, async () => {
  const { inline, temporal, added } = await retryWhenNoisy(
    () => measurePauses(bed, runs(1, 10), 10),
    (figures) => figures.added < 250,
  );

  count(`from step to step with Temporal: ${temporal}`);
  count(`from step to step without: ${inline}`);
  count(`added to a step by Temporal: ${added} ms (medians)`);
  expect(added).toBeLessThan(250);
});

it(
  "of many runs at once every transcript is whole, and so is what viewers see",
  patience,
  async () => {
    const side = bed.temporal;
    const size = { runs: runs(20, 200), deltas: runs(2, 60) * perSecond };
    const before = bed.spent(side);
    const start = performance.now();

    const begun = await side.begin(size.runs, { deltas: size.deltas, perSecond });
    using stack = new DisposableStack();
    const watched = begun.slice(0, 3).map((run) => stack.use(watchRun(side, run, perSecond)));
    expect(await side.stream(begun)).toBe(true);
    const facts = await side.ended(begun);
    const seconds = (performance.now() - start) / 1_000;
    const shares = sharesOf(since(before, bed.spent(side)), seconds);

    const texts = facts.map(replyOf);
    const replies = texts.map(readReply);
    const late = replies.flatMap(({ lateMs }) => lateMs);
    const starts = begun.map(({ sentAt, reader }) => (reader.streamsAt ?? Infinity) - sentAt);
    count(
      `${size.runs} runs of ${size.deltas} deltas at ${perSecond}/s, in ${seconds.toFixed(1)} s`,
    );
    count(`from a prompt to its first delta: ${distribution(starts)}`);
    count(`deltas late by their plan: ${distribution(late)}`);
    count(`from the plan to three viewers: ${distribution(watched.flatMap((one) => one.lags))}`);
    count(`processor time: ${shares}`);
    expect(replies.filter(({ isWhole }) => isWhole)).toHaveLength(size.runs);
    expect(late).toHaveLength(size.runs * size.deltas);
    expect(await side.verified(begun)).toBe(size.runs);
    for (const [at, { viewer }] of watched.entries()) {
      const isShown = (): boolean => viewer.state?.head === facts[at]?.length;
      await until(isShown, "a viewer shows all of its run");
      expect(viewer.checks.faults).toEqual([]);
      expect(textOfItem(viewer.state?.items.toArray().at(-1))).toBe(texts[at]);
    }
  },
);

it("runs keep their pace until the machine is full", patience, async () => {
  const options = {
    step: runs(20, 50),
    most: runs(20, 2_000),
    perSecond,
    windowMs: runs(1_000, 8_000),
    lateMs: 250,
  };
  for (const side of isCampaign ? [bed.temporal, bed.inline] : [bed.temporal]) {
    const { held, begun, verified } = await retryWhenNoisy(
      () => mostRuns(bed, side, options),
      (figures) => figures.held >= options.step,
    );

    count(`${held} runs keep ${perSecond} deltas/s: ${side.name}`);
    expect(held).toBeGreaterThanOrEqual(options.step);
    expect(verified).toBe(begun);
  }
  expect([...bed.inline.strays, ...bed.temporal.strays]).toEqual([]);
});

/** The text of the last reply. */
function replyOf(facts: readonly Fact[]): string {
  const items = facts.flatMap((fact) => (fact.type === "item_committed" ? [fact.item] : []));
  return textOfItem(items.findLast(({ author }) => author === "model"));
}

function count(figures: string): void {
  console.log(`count: ${figures}`);
}

function us(seconds: number): string {
  return `${(seconds * 1e6).toFixed(1)} µs`;
}

function ms(seconds: number): string {
  return `${(seconds * 1e3).toFixed(1)} ms`;
}
