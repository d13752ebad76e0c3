import type { Clock } from "@millrace/core/ports";

/** A clock that moves only by `advance`, at no cost. */
export interface HeldClock extends Clock {
  /** Moves time on, and ends the sleeps until then, in the order of their times. */
  readonly pass: (ms: number) => void;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export function heldClock(): HeldClock {
  let now = 1_000_000;
  const sleepers = new Set<Sleeper>();
  const after = (ms: number, call: () => void): (() => void) => {
    const sleeper = { at: now + ms, wake: call };
    sleepers.add(sleeper);
    return () => void sleepers.delete(sleeper);
  };
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        takeBack();
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const takeBack = after(ms, wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
  };
  return {
    now: () => now,
    monotonic: () => now,
    sleep,
    after,
    pass: (ms) => {
      now += ms;
      const due = [...sleepers].filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at);
      for (const sleeper of due) {
        if (sleepers.delete(sleeper)) sleeper.wake();
      }
    },
  };
}

/** Lets everything go on until it waits for time or people: nothing here waits for anything else. */
export function rest(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What a promise has come to, looked at without waiting for it. */
export function watched<T>(promise: Promise<T>): () => T | undefined {
  let value: T | undefined;
  void promise.then((came) => (value = came));
  return () => value;
}

/** Lets everything go on by so many steps of promises. */
export async function steps(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) await Promise.resolve();
}
