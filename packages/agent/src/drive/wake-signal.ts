import type { Clock } from "@millrace/core/ports";

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

  /** Resolves at the next `wake`, or at the given time. May resolve early: the caller decides again. */
  async sleep(clock: Clock, until?: number): Promise<void> {
    if (!this.#woken) {
      const sleeping = new AbortController();
      this.#sleeping = sleeping;
      if (until === undefined) await aborted(sleeping.signal);
      // The longest that a timer can be set; waking early is harmless.
      else
        await clock.sleep(Math.min(Math.max(0, until - clock.now()), 2 ** 31 - 1), sleeping.signal);
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
