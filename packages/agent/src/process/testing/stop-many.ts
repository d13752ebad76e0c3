import process from "node:process";

import { runProcess } from "../run-process.ts";
import type { PidNamespace } from "../confinement.ts";
import { living } from "./living.ts";
import { escapes, habits, unruly } from "./unruly.ts";

// Starts unruly programs, ends them, and prints what it counted as one line of JSON. A program of its own,
// so that a test can run it as another user. Arguments: how many stops, and the mode of `runProcess`
// (`default` for none).
const [, , stops = "0", mode = "default"] = process.argv;
const known = mode === "off" ? habits : { ...habits, ...escapes };
const atOnce = 8;

/** What the stops came to. */
export interface StopCount {
  /** The number that the tokens of all its commands begin with. */
  readonly pid: number;
  aborts: number;
  timeouts: number;
  exits: number;
  longestMs: number;
  readonly habits: Record<string, number>;
  /** One line for each process that was left, each survivor that was reported and each wrong ending. */
  readonly faults: string[];
}

const count: StopCount = {
  pid: process.pid,
  aborts: 0,
  timeouts: 0,
  exits: 0,
  longestMs: 0,
  habits: {},
  faults: [],
};
const before = children();
const state = { number: 0 };

async function oneAfterAnother(): Promise<void> {
  while (count.aborts + count.timeouts < Number(stops) && count.faults.length === 0) {
    state.number += 1;
    await stopOne(state.number);
  }
}

async function stopOne(number: number): Promise<void> {
  const token = `60.${process.pid}${String(number).padStart(7, "0")}`;
  const { script, habits: chosen, stop, stopAfterMs, graceMs } = unruly(number, token, known);
  const stopper = new AbortController();
  let stoppedAt = performance.now();
  if (stop === "abort") {
    setTimeout(() => {
      stoppedAt = performance.now();
      stopper.abort();
    }, stopAfterMs);
  }

  const outcome = await runProcess(["sh", "-c", script, token], {
    execution: `execution ${token}`,
    graceMs,
    ...(mode === "default" ? {} : { pidNamespace: mode as PidNamespace }),
    ...(stop === "timeout" ? { timeoutMs: stopAfterMs } : {}),
    signal: stopper.signal,
  });

  count.longestMs = Math.max(count.longestMs, Math.round(performance.now() - stoppedAt));
  const expected = { abort: "aborted", timeout: "timed_out", exit: "exited" }[stop];
  const faults = [
    ...left(token).map((line) => `left: ${line}`),
    ...outcome.survivors.map((pid) => `survivor: ${pid}`),
    ...(outcome.ended === expected ? [] : [`ended: ${JSON.stringify(outcome)}, not ${expected}`]),
  ];
  count.faults.push(...faults.map((fault) => `${number}: ${fault}\n${script}`));
  count.aborts += stop === "abort" ? 1 : 0;
  count.timeouts += stop === "timeout" ? 1 : 0;
  count.exits += stop === "exit" ? 1 : 0;
  for (const habit of chosen) count.habits[habit] = (count.habits[habit] ?? 0) + 1;
}

/** A zombie has ended; whose it is shows at the end. */
function left(token: string): readonly string[] {
  return living(token)
    .filter(({ zombie }) => !zombie)
    .map(({ pid, text }) => `${pid} ${text}`);
}

/** Our own children, zombies included. */
function children(): readonly number[] {
  return living("")
    .filter(({ parent }) => parent === process.pid)
    .map(({ pid }) => pid);
}

await Promise.all(Array.from({ length: atOnce }, oneAfterAnother));
for (const pid of children()) if (!before.includes(pid)) count.faults.push(`child: ${pid}`);
console.log(JSON.stringify(count));
