import type { Clock } from "@millrace/core/ports";

/** The longest sleep towards a deadline. */
const longestMs = 60_000;

/**
 * Lets the driver sleep until something changes. A `wake` without a sleeper is kept, and the next
 * `sleep` returns at once; so no change between a decision and the sleep is missed. One sleeper only.
 */
export class WakeSignal {
  #woken = false;
  #sleeping: AbortController | undefined;

  wake(): void {
    this.#woken = true;
    this.#sleeping?.abort();
  }

  /**
   * Resolves at the next `wake`, or after that long. May resolve early: the caller decides again. It
   * does so after a minute at the latest, because the clock by which a deadline counts may be set.
   */
  async sleep(clock: Clock, ms?: number): Promise<void> {
    if (!this.#woken) {
      const sleeping = new AbortController();
      this.#sleeping = sleeping;
      if (ms === undefined) await aborted(sleeping.signal);
      else await clock.sleep(Math.min(Math.max(0, ms), longestMs), sleeping.signal);
      this.#sleeping = undefined;
    }
    this.#woken = false;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
