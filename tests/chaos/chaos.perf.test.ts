import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleNodes } from "../kit/deployment/bundle.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { distribution, percentile } from "../kit/distribution.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { runs } from "../kit/runs.ts";
import { runHistory } from "./history.ts";
import type { HistoryResult } from "./history.ts";

const firstSeed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const historyCount = Number(process.env["HISTORIES"] ?? runs(12, 60));
/** Each takes half of a core. */
const atOnce = Number(process.env["AT_ONCE"] ?? 3);
const faultMs = runs(10_000, 25_000);
/** The longest time in which a session with work stands still once the faults are over, for 99 of 100. */
const stillLimitMs = 5_000;

let programs: NodePrograms;

beforeAll(async () => {
  programs = await bundleNodes();
});
afterAll(() => programs[Symbol.asyncDispose]());

/** Runs one history. One that fails prints its seed, and keeps all that is known of it in a file. */
async function check(seed: number): Promise<HistoryResult> {
  const drives = seed % 3 === 0 ? "open" : "pool";
  const result = await runHistory({ seed, programs, drives, faultMs });
  const left = result.recoveries.filter(({ restMs }) => restMs === undefined);
  if (result.violations.length === 0 && left.length === 0) return result;
  const file = join(tmpdir(), `millrace-chaos-${seed}.json`);
  writeFileSync(file, JSON.stringify(result, undefined, 1));
  const violations = result.violations.map(({ kind, what }) => `${kind}: ${what.slice(0, 1_000)}`);
  const stuck = left.map(({ sessionId }) => `${sessionId} has not come to rest`);
  throw new Error(
    `SEED=${seed} HISTORIES=1, kept in ${file}, after ${result.faults.join(", ")}:\n${[...violations, ...stuck].join("\n")}`,
  );
}

it(
  "whatever befalls its servers and processes, a deployment loses and doubles nothing, and then goes on by itself",
  { timeout: 600_000 * Math.max(1, historyCount / 12) },
  async () => {
    console.log(`SEED=${firstSeed}`); // printed before it may fail
    const seeds = Array.from({ length: historyCount }, (_, at) => firstSeed + at);

    const results = await inParallel(
      seeds.map((seed) => () => check(seed)),
      atOnce,
    );

    const still = results.flatMap(({ recoveries }) => recoveries.map(({ stillMs }) => stillMs));
    const rest = results.flatMap(({ recoveries }) => recoveries.map(({ restMs = 0 }) => restMs));
    const faults = results.flatMap((result) => result.faults);
    const sessions = results.flatMap((result) => result.sessions);
    console.log(
      `count: chaos (seed ${firstSeed}): ${results.length} histories, ${faults.length} faults, ${sessions.length} sessions, ${sum(sessions, ({ sent }) => sent.length)} commands, ${sum(sessions, ({ facts }) => facts.length)} facts, ${sum(sessions, ({ effects }) => effects.length)} effects, ${sum(results, ({ connections }) => connections)} connections of viewers, 0 violations; longest stillness after the faults: ${distribution(still)}; until all work is done: ${distribution(rest)}`,
    );
    expect(percentile(still, 0.99)).toBeLessThanOrEqual(stillLimitMs);
    expect(faults.length).toBeGreaterThan(historyCount * 4);
  },
);

function sum<T>(rows: readonly T[], pick: (row: T) => number): number {
  return rows.reduce((total, row) => total + pick(row), 0);
}
