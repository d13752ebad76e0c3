import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import type { Drives } from "../kit/deployment/deployment.ts";
import { distribution, percentile } from "../kit/distribution.ts";
import { inParallel } from "../kit/in-parallel.ts";
import type { FaultRow } from "./fault-plan.ts";
import { runHistory } from "./history.ts";
import type { HistoryOptions, HistoryResult } from "./history.ts";

export interface CampaignOptions {
  /** In the line that is printed. */
  readonly name: string;
  readonly firstSeed: number;
  readonly histories: number;
  readonly atOnce: number;
  readonly faultMs: number;
  readonly restMs: number;
  readonly programs: NodePrograms;
  readonly drives: (seed: number) => Drives;
}

/** What histories without a violation had in common. */
export interface CampaignResult {
  /** Of the longest time in which a session with work stood still after the faults, in milliseconds. */
  readonly stillP99: number;
  readonly faults: number;
}

/** How large a history is, beside the time of its faults. */
const size = {
  sessions: 4,
  pages: 2,
  pauseMs: [150, 1_050],
  peoplePauseMs: [2_500, 7_500],
} as const;

/**
 * Runs histories of consecutive seeds, and prints their figures. Rejects if one is violated or not at rest.
 * `REPLAY=file` repeats the faults of one that was kept instead.
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { name, histories, atOnce, faultMs, restMs, programs, drives } = options;
  const kept = readKept(process.env["REPLAY"]);
  const firstSeed = kept?.seed ?? options.firstSeed;
  console.log(`SEED=${firstSeed}`); // printed before it may fail
  // AG-UI's library writes each request there that failed.
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const seeds = Array.from({ length: kept ? 1 : histories }, (_, at) => firstSeed + at);
  const same = { ...size, programs, faultMs, restMs, rows: kept?.faults };
  const results = await inParallel(
    seeds.map((seed) => () => check({ ...same, seed, drives: kept?.drives ?? drives(seed) })),
    atOnce,
  );
  const still = results.flatMap(({ recoveries }) => recoveries.map(({ stillMs }) => stillMs));
  const rest = results.flatMap(({ recoveries }) => recoveries.map(({ restMs: ms = 0 }) => ms));
  const faults = results.flatMap((result) => result.faults);
  const sessions = results.flatMap((result) => result.sessions);
  console.log(
    `count: ${name} (seed ${firstSeed}): ${results.length} histories, ${faults.length} faults, ${sessions.length} sessions, ${sum(sessions, ({ sent }) => sent.length)} commands, ${sum(sessions, ({ facts }) => facts.length)} facts, ${sum(sessions, ({ effects }) => effects.length)} effects, ${sum(results, ({ connections }) => connections)} connections of viewers, ${sum(results, ({ answers }) => answers)} answers in dialects, 0 violations; longest stillness after the faults: ${distribution(still)}; until all work is done: ${distribution(rest)}`,
  );
  return { stillP99: percentile(still, 0.99), faults: faults.length };
}

type Kept = Pick<HistoryResult, "seed" | "drives"> & { readonly faults: readonly FaultRow[] };

function readKept(file: string | undefined): Kept | undefined {
  // A failed history wrote it.
  return file === undefined ? undefined : (JSON.parse(readFileSync(file, "utf8")) as Kept);
}

/** Runs one history. One that fails prints its seed, and keeps all that is known of it in a file. */
export async function check(options: HistoryOptions): Promise<HistoryResult> {
  const { seed } = options;
  const result = await runHistory(options);
  const left = result.recoveries.filter(({ restMs }) => restMs === undefined);
  if (result.violations.length === 0 && left.length === 0) return result;
  const file = join(tmpdir(), `millrace-chaos-${seed}.json`);
  writeFileSync(file, JSON.stringify(result, undefined, 1));
  const violations = result.violations.map(({ kind, what }) => `${kind}: ${what.slice(0, 400)}`);
  const stuck = left.map(({ sessionId }) => `${sessionId} has not come to rest`);
  const happened = result.faults.map(({ atMs, name }) => `${atMs} ms ${name}`).join(", ");
  throw new Error(
    `SEED=${seed} HISTORIES=1, kept in ${file} for REPLAY, ${result.drives}, after ${happened}:\n${[...stuck, ...violations].join("\n")}`,
  );
}

function sum<T>(rows: readonly T[], pick: (row: T) => number): number {
  return rows.reduce((total, row) => total + pick(row), 0);
}
