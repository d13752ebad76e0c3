import type { LiveEvent } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import type { FilledStallSettings } from "../definition/stall.ts";

export interface StallWatch {
  /** Called for each delta. */
  readonly moved: () => void;
  /** Called when bytes come that may make no delta. */
  readonly alive: () => void;
  /** Whether `giveUp` was called, and whether bytes still came then. */
  readonly stalled: () => "silent" | "alive" | undefined;
  readonly stop: () => void;
}

/** The longest delay that a timer of JavaScript takes. */
const longestSleepMs = 2 ** 31 - 1;

/** How many times longer a vendor is waited for that sends keep-alives: its model thinks, and is paid for it. */
const aliveFactor = 3;

/**
 * Watches one attempt for silence. Calls `report` after each `reportAfterMs` without a delta, and
 * `giveUp` once after `giveUpAfterMs`, or three times that while bytes come. Holds one timer at a time: a delta only sets the time from which
 * silence counts, which costs a clock read.
 */
export function watchForStall(
  clock: Clock,
  settings: FilledStallSettings | false,
  report: (event: Extract<LiveEvent, { readonly type: "stalled" }>) => void,
  giveUp: () => void,
): StallWatch {
  const done = new AbortController();
  let movedAt = clock.monotonic();
  let aliveAt = Number.NEGATIVE_INFINITY;
  let stalled: ReturnType<StallWatch["stalled"]>;
  const watch = async ({ reportAfterMs, giveUpAfterMs }: FilledStallSettings): Promise<void> => {
    for (;;) {
      const silentMs = clock.monotonic() - movedAt;
      const reports = Math.floor(silentMs / reportAfterMs);
      const isAlive = clock.monotonic() - aliveAt < giveUpAfterMs / 2;
      const limitMs = isAlive ? giveUpAfterMs * aliveFactor : giveUpAfterMs;
      if (silentMs >= limitMs) {
        stalled = isAlive ? "alive" : "silent";
        return giveUp();
      }
      // After progress the silence is shorter than the sleep was, so no report is due.
      if (reports > 0) report({ type: "stalled", silentMs: Math.round(silentMs) });
      const nextMs = silentMs < giveUpAfterMs ? giveUpAfterMs : limitMs;
      const dueMs = Math.min((reports + 1) * reportAfterMs, nextMs) - silentMs;
      // Rounded up: a clock with fractions of milliseconds may wake slightly too early.
      const sleepMs = Math.max(1, Math.min(Math.ceil(dueMs), longestSleepMs));
      await clock.sleep(sleepMs, done.signal);
      if (done.signal.aborted) return;
    }
  };
  if (settings !== false) void watch(settings);
  return {
    moved: () => {
      movedAt = clock.monotonic();
    },
    alive: () => {
      aliveAt = clock.monotonic();
    },
    stalled: () => stalled,
    stop: () => done.abort(),
  };
}
