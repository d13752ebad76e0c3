import type { Clock } from "../ports/clock.ts";

/**
 * Sleeps by the clock. If its sleep returns much too early without an abort, as that of a test's clock
 * may, this also waits for its shortest timer: a loop around it would otherwise never let the event
 * loop run.
 */
export async function pause(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  sleep: Clock["sleep"] = clock.sleep,
): Promise<void> {
  const start = clock.monotonic();
  await sleep(ms, signal);
  if (signal.aborted || clock.monotonic() - start >= ms / 2) return;
  await new Promise<void>((resolve) => void clock.after(1, resolve));
}
