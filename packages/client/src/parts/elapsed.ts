import { useEffect, useState } from "react";

/**
 * Milliseconds since something began, counted while it is on and kept when it is over. Undefined if this page
 * never saw it on: what was over before is of unknown length.
 */
export function useElapsed(isOn: boolean): number | undefined {
  const [elapsed, setElapsed] = useState<number | undefined>();
  useEffect(() => {
    if (!isOn) return undefined;
    const begun = performance.now();
    const count = (): void => setElapsed(performance.now() - begun);
    count();
    const timer = setInterval(count, 1_000);
    return () => {
      clearInterval(timer);
      count();
    };
  }, [isOn]);
  return elapsed;
}

/** Milliseconds until a moment, by this device's clock and not below 0. Undefined without one, and on a server. */
export function useTimeLeft(at: number | undefined): number | undefined {
  const [left, setLeft] = useState<number | undefined>();
  useEffect(() => {
    if (at === undefined) return undefined;
    const count = (): void => setLeft(Math.max(0, at - Date.now()));
    count();
    const timer = setInterval(count, 1_000);
    return () => clearInterval(timer);
  }, [at]);
  return at === undefined ? undefined : left;
}

/** A duration in a readable unit: `0.8 s`, `12 s`, `3 min`. */
export function showElapsed(ms: number): string {
  if (ms < 10_000) return `${(Math.round(ms / 100) / 10).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return `${Math.round(ms / 60_000)} min`;
}
