/** The longest that a timer of the platform can wait. Beyond it, it would fire at once. */
export const longestTimer = 0x7fff_ffff;

/**
 * Resolves after a time, or at once when the signal aborts; it never rejects. No time at all still
 * lets the event loop turn, so that what was written gets on its way. `Infinity` waits for the
 * signal alone.
 */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    if (ms <= 0) {
      setImmediate(resolve);
      return;
    }
    const timer = ms > longestTimer ? undefined : setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
