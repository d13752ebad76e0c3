import type { LiveEvent } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import type { FilledStallSettings } from "../definition/stall.ts";

export interface StallWatch {
  /** Called for each delta. */
  readonly moved: () => void;
  /** Whether the attempt was given up. */
  readonly stalled: () => boolean;
  readonly stop: () => void;
}

/** Timers hold 31 bits. */
const longestSleepMs = 2 ** 31 - 1;

/**
 * Reports an attempt that makes no progress, and gives it up in the end. One timer at a time, however
 * many deltas come: a delta only moves the time from which silence is counted.
 */
export function watchForStall(
  clock: Clock,
  settings: FilledStallSettings | false,
  report: (event: Extract<LiveEvent, { readonly type: "stalled" }>) => void,
  giveUp: () => void,
): StallWatch {
  const done = new AbortController();
  let movedAt = clock.now();
  let stalled = false;
  const watch = async ({ reportAfterMs, giveUpAfterMs }: FilledStallSettings): Promise<void> => {
    for (;;) {
      const silentMs = clock.now() - movedAt;
      const reports = Math.floor(silentMs / reportAfterMs);
      if (silentMs >= giveUpAfterMs) {
        stalled = true;
        return giveUp();
      }
      // A sleep ends when a report is due, unless there was progress: then less time has passed.
      if (reports > 0) report({ type: "stalled", silentMs: Math.round(silentMs) });
      const dueMs = Math.min((reports + 1) * reportAfterMs, giveUpAfterMs) - silentMs;
      // Whole milliseconds: a clock that counts fractions may wake a rounding error too early.
      const sleepMs = Math.max(1, Math.min(Math.ceil(dueMs), longestSleepMs));
      await clock.sleep(sleepMs, done.signal);
      if (done.signal.aborted) return;
    }
  };
  if (settings !== false) void watch(settings);
  return {
    moved: () => {
      movedAt = clock.now();
    },
    stalled: () => stalled,
    stop: () => done.abort(),
  };
}
