import type { Clock, MakeId } from "../ports/clock.ts";

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => wait(ms, signal, true),
  idle: (ms, signal) => wait(ms, signal, false),
  after: (ms, call, { idle = false } = {}) => {
    const timer = setTimeout(call, Math.max(0, ms));
    if (idle) letEnd(timer);
    return () => clearTimeout(timer);
  },
  // Read here and not once above: where workflows run there is no `performance`, and importing is no use.
  busyMs: () => (performance as Timing).eventLoopUtilization?.().active ?? 0,
};

/** Node and Bun measure how busy the event loop is; browsers do not. */
type Timing = Performance & { readonly eventLoopUtilization?: () => { readonly active: number } };

function wait(ms: number, signal: AbortSignal | undefined, keepsAlive: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, ms)); // a moment that has just passed is no mistake
    if (!keepsAlive) letEnd(timer);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** In browsers a timer is a number, and keeps nothing alive. */
function letEnd(timer: unknown): void {
  (timer as { readonly unref?: () => void }).unref?.();
}

/**
 * The time since 1970 that does not jump: the wall clock is read once, and what has passed since is
 * added. The clock of a store that one host has for itself.
 */
export function steadyNow({ now, monotonic }: Clock): () => number {
  const origin = now() - monotonic();
  return () => Math.round(origin + monotonic());
}

export { randomId } from "../ports/clock.ts";

/** Ids that count, for tests and goldens: `run_1`, `run_2`, … */
export function countingIds(): MakeId {
  const counts = new Map<string, number>();
  return (sort) => {
    const count = (counts.get(sort) ?? 0) + 1;
    counts.set(sort, count);
    return `${sort}_${count}`;
  };
}
