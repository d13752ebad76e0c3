import process from "node:process";

import { expect, test } from "vitest";

import { runProcess } from "./index.ts";
import { living } from "./testing/living.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { habits, unruly } from "./testing/unruly.ts";

const stops = runs(2_000, 50_000);
const atOnce = 8;
/** How long after its end or its abort a process and all that it started may live. */
const boundMs = 5_000;

interface Count {
  readonly habits: Map<string, number>;
  aborts: number;
  timeouts: number;
  exits: number;
  longestMs: number;
}

test("nobody that a process started outlives its outcome", { timeout: stops * 400 }, async () => {
  const count: Count = { habits: new Map(), aborts: 0, timeouts: 0, exits: 0, longestMs: 0 };
  const before = children();
  const state = { number: 0, failed: false };
  const oneAfterAnother = async (): Promise<void> => {
    while (count.aborts + count.timeouts < stops && !state.failed) {
      state.number += 1;
      await stopOne(state.number, count).catch((error: unknown) => {
        state.failed = true;
        throw error;
      });
    }
  };
  // If one fails, the others end first: a test leaves nobody behind.
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, oneAfterAnother));

  expect(ends.find((end) => end.status === "rejected")?.reason).toBeUndefined();
  expect(children().filter((pid) => !before.includes(pid))).toEqual([]);
  expect([...count.habits.keys()].toSorted()).toEqual(Object.keys(habits).toSorted());
  const { aborts, timeouts, exits, longestMs } = count;
  console.log(
    `count: P23 real stops, ${aborts} aborts, ${timeouts} timeouts, ${exits} exits, ${Math.round(longestMs)} ms at most, 0 survivors`,
  );
});

async function stopOne(number: number, count: Count): Promise<void> {
  const token = `60.${process.pid}${String(number).padStart(7, "0")}`;
  const { script, habits, stop, stopAfterMs, graceMs } = unruly(number, token);
  const stopper = new AbortController();
  const startedAt = performance.now();
  let stoppedAt = startedAt;
  if (stop === "abort") {
    setTimeout(() => {
      stoppedAt = performance.now();
      stopper.abort();
    }, stopAfterMs);
  }

  const outcome = await runProcess(["sh", "-c", script, token], {
    execution: `execution ${token}`,
    graceMs,
    ...(stop === "timeout" ? { timeoutMs: stopAfterMs } : {}),
    signal: stopper.signal,
  });

  const tookMs = performance.now() - stoppedAt;
  const what = { number, script, graceMs, ended: outcome.ended };
  expect({ ...what, left: left(token) }).toEqual({ ...what, left: [] });
  expect({ ...what, survivors: outcome.survivors }).toEqual({ ...what, survivors: [] });
  expect({ ...what, late: tookMs > boundMs ? tookMs : 0 }).toEqual({ ...what, late: 0 });
  expect(outcome.ended).toBe({ abort: "aborted", timeout: "timed_out", exit: "exited" }[stop]);
  count.longestMs = Math.max(count.longestMs, tookMs);
  count.aborts += stop === "abort" ? 1 : 0;
  count.timeouts += stop === "timeout" ? 1 : 0;
  count.exits += stop === "exit" ? 1 : 0;
  for (const habit of habits) count.habits.set(habit, (count.habits.get(habit) ?? 0) + 1);
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
