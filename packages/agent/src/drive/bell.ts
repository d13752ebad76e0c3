import type { Clock } from "@millrace/core/ports";

/** Wakes one sleeper when something has happened. Rung while nobody sleeps, it wakes the next one at once. */
export class Bell {
  #rung = false;
  #sleeping: AbortController | undefined;

  ring(): void {
    this.#rung = true;
    this.#sleeping?.abort();
  }

  /** Settles at the next ring, or at that time. */
  async next(clock: Clock, until?: number): Promise<void> {
    if (!this.#rung) {
      const sleeping = new AbortController();
      this.#sleeping = sleeping;
      if (until === undefined) await aborted(sleeping.signal);
      // A timer can't be set further than this; whoever is woken early looks again.
      else
        await clock.sleep(Math.min(Math.max(0, until - clock.now()), 2 ** 31 - 1), sleeping.signal);
      this.#sleeping = undefined;
    }
    this.#rung = false;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
