import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleNodes } from "../kit/deployment/bundle.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { distribution, percentile } from "../kit/distribution.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";
import { runs } from "../kit/runs.ts";
import { passTimedRuns } from "./timed-runs.ts";
import type { TimedRun } from "./timed-runs.ts";

/** In each of three deployments. */
const runCount = runs(12, 100);
const seconds = runs(20, 60);
/** What a takeover and a busy machine may add to a deadline. */
const lateMs = 3_000;
const takeoverLimitMs = 3_000;

let programs: NodePrograms;

beforeAll(async () => {
  programs = await bundleNodes();
});
afterAll(() => programs[Symbol.asyncDispose]());

async function passWith(clocks: readonly number[], survivor: number): Promise<readonly TimedRun[]> {
  await using deployment = await Deployment.start({
    programs,
    drives: "pool",
    workers: 3,
    webs: 1,
    agent: { chunkMs: 40, limitSeconds: seconds, approvalTimeoutMs: seconds * 500 },
    clocks,
  });
  const passed = await passTimedRuns({ deployment, runCount, seconds, survivor });
  expect(deployment.strays).toEqual([]);
  return passed;
}

it(
  "three workers whose clocks are an hour apart end the same runs alike, and take over as soon, as three that agree",
  { timeout: 240_000 + seconds * 16_000 },
  async () => {
    const apart = [0, 3_600, -3_600, 0];
    const { ahead, behind, alike, takeovers, others } = await retryWhenNoisy(
      async () => {
        const passed = await Promise.all([
          passWith(apart, 1),
          passWith(apart, 2),
          passWith([0, 0, 0, 0], 1),
        ]);
        const [first, second, third] = passed;
        const times = { takeovers: takeoversOf([...first, ...second]), others: takeoversOf(third) };
        return { ahead: first, behind: second, alike: third, ...times };
      },
      (figures) => percentile(figures.takeovers, 0.95) <= takeoverLimitMs,
      2,
    );

    console.log(
      `count: clocks at 0, +1 h and -1 h, ${ahead.length + behind.length} runs of up to ${seconds} s, 0 other outcomes; takeovers: ${distribution(takeovers)}; with one clock: ${distribution(others)}`,
    );
    expect(ahead.map(({ outcome }) => outcome)).toEqual(alike.map(({ outcome }) => outcome));
    expect(behind.map(({ outcome }) => outcome)).toEqual(alike.map(({ outcome }) => outcome));
    for (const passed of [...ahead, ...behind, ...alike]) expect(passed).toSatisfy(isInTime);
    expect(takeovers.length).toBeGreaterThan(0);
    expect(percentile(takeovers, 0.95)).toBeLessThanOrEqual(takeoverLimitMs);
  },
);

function takeoversOf(passed: readonly TimedRun[]): readonly number[] {
  return passed.flatMap(({ takeoverMs }) => takeoverMs ?? []);
}

/** Each sort of run has its outcome, and those that time ends have it at their time. */
function isInTime({ sort, outcome, ms }: TimedRun): boolean {
  const [limit, question] = [seconds * 1_000, (seconds * 1_000) / 2];
  const isAt = (deadline: number): boolean => ms >= deadline - 50 && ms < deadline + lateMs;
  if (sort === "short") return outcome === "completed";
  if (sort === "answered") return outcome === "completed ok";
  if (sort === "endless") return outcome === "limited" && isAt(limit);
  return outcome === "completed denied" && isAt(question);
}
