import type { Clock } from "@millrace/core/ports";
import { systemClock } from "@millrace/core/memory";

/**
 * Holds all models and tools of a cell, so that their output does not change while it is compared.
 * Everything else goes on.
 */
export class Gate {
  #closed: PromiseWithResolvers<void> | undefined;

  /** For scripted models: no sleep ends while the gate is closed. */
  readonly clock: Clock = {
    now: systemClock.now,
    monotonic: systemClock.monotonic,
    sleep: async (ms, signal) => {
      await systemClock.sleep(ms, signal);
      await this.pass();
    },
    after: systemClock.after,
  };

  async pass(): Promise<void> {
    while (this.#closed !== undefined) await this.#closed.promise;
  }

  close(): void {
    this.#closed ??= Promise.withResolvers();
  }

  open(): void {
    this.#closed?.resolve();
    this.#closed = undefined;
  }
}
