/** The longest delay of a timer. A longer one would fire at once. */
export const longestTimer = 0x7fff_ffff;

/**
 * Resolves after a time, or at once when the signal aborts; never rejects. A time of 0 still yields
 * to the event loop, so that written bytes are sent. `Infinity` waits for the signal alone.
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
