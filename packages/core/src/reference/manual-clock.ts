import type { Clock } from "../ports/clock.ts";

/** A clock that moves only by `advance`. */
export interface ManualClock extends Clock {
  /** Moves time on, waking sleepers and calling back in the order of their times, and lets each one act. */
  readonly advance: (ms: number) => Promise<void>;
  /** How many sleeps and calls of `after` are pending. */
  readonly sleepers: () => number;
}

/** A clock that stands still until it is moved. */
export function manualClock(start = 0): ManualClock {
  let now = start;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  const after = (ms: number, call: () => void): (() => void) => {
    const sleeper = { at: now + Math.max(0, ms), wake: call };
    sleepers.push(sleeper);
    return () => {
      const place = sleepers.indexOf(sleeper);
      if (place >= 0) sleepers.splice(place, 1);
    };
  };

  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const leave = (): void => {
        takeBack();
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const takeBack = after(ms, leave);
      signal?.addEventListener("abort", leave, { once: true });
    });
  };

  const advance = async (ms: number): Promise<void> => {
    const end = now + ms;
    for (;;) {
      await settle();
      const next = sleepers
        .filter((sleeper) => sleeper.at <= end)
        .toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      now = Math.max(now, next.at);
      sleepers.splice(sleepers.indexOf(next), 1);
      next.wake();
    }
    now = end;
    await settle();
  };

  return {
    now: () => now,
    monotonic: () => now - start,
    sleep,
    after,
    advance,
    sleepers: () => sleepers.length,
  };
}

/** Enough rounds of the microtask queue for chains of promises to settle. */
async function settle(): Promise<void> {
  for (let round = 0; round < 50; round += 1) await Promise.resolve();
}
