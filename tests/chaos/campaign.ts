import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import type { Drives } from "../kit/deployment/deployment.ts";
import { distribution, percentile } from "../kit/distribution.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { runHistory } from "./history.ts";
import type { HistoryOptions, HistoryResult } from "./history.ts";

export interface CampaignOptions {
  /** In the line that is printed. */
  readonly name: string;
  readonly firstSeed: number;
  readonly histories: number;
  readonly atOnce: number;
  readonly faultMs: number;
  readonly programs: NodePrograms;
  readonly drives: (seed: number) => Drives;
}

/** What histories without a violation had in common. */
export interface CampaignResult {
  /** Of the longest time in which a session with work stood still after the faults, in milliseconds. */
  readonly stillP99: number;
  readonly faults: number;
}

/** Runs histories of consecutive seeds, and prints their figures. Rejects if one is violated or not at rest. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { name, firstSeed, histories, atOnce, faultMs, programs, drives } = options;
  console.log(`SEED=${firstSeed}`); // printed before it may fail
  const seeds = Array.from({ length: histories }, (_, at) => firstSeed + at);
  const results = await inParallel(
    seeds.map((seed) => () => check({ seed, programs, drives: drives(seed), faultMs })),
    atOnce,
  );
  const still = results.flatMap(({ recoveries }) => recoveries.map(({ stillMs }) => stillMs));
  const rest = results.flatMap(({ recoveries }) => recoveries.map(({ restMs = 0 }) => restMs));
  const faults = results.flatMap((result) => result.faults);
  const sessions = results.flatMap((result) => result.sessions);
  console.log(
    `count: ${name} (seed ${firstSeed}): ${results.length} histories, ${faults.length} faults, ${sessions.length} sessions, ${sum(sessions, ({ sent }) => sent.length)} commands, ${sum(sessions, ({ facts }) => facts.length)} facts, ${sum(sessions, ({ effects }) => effects.length)} effects, ${sum(results, ({ connections }) => connections)} connections of viewers, 0 violations; longest stillness after the faults: ${distribution(still)}; until all work is done: ${distribution(rest)}`,
  );
  return { stillP99: percentile(still, 0.99), faults: faults.length };
}

/** Runs one history. One that fails prints its seed, and keeps all that is known of it in a file. */
async function check(options: HistoryOptions): Promise<HistoryResult> {
  const { seed } = options;
  const result = await runHistory(options);
  const left = result.recoveries.filter(({ restMs }) => restMs === undefined);
  if (result.violations.length === 0 && left.length === 0) return result;
  const file = join(tmpdir(), `millrace-chaos-${seed}.json`);
  writeFileSync(file, JSON.stringify(result, undefined, 1));
  const violations = result.violations.map(({ kind, what }) => `${kind}: ${what.slice(0, 400)}`);
  const stuck = left.map(({ sessionId }) => `${sessionId} has not come to rest`);
  throw new Error(
    `SEED=${seed} HISTORIES=1, kept in ${file}, after ${result.faults.join(", ")}:\n${[...stuck, ...violations].join("\n")}`,
  );
}

function sum<T>(rows: readonly T[], pick: (row: T) => number): number {
  return rows.reduce((total, row) => total + pick(row), 0);
}
