import type { Clock } from "@millrace/core/ports";
import type { RunHost } from "../runs/run-host.ts";
import type { Tenants } from "./tenants.ts";

/** Time for balancers to notice that `ready` says no, before streams end. */
const balancerSeconds = 5;

/** The end of a server: what is refused, what ends and what is handed over, and in which order. */
export class Life {
  readonly #tenants: Tenants;
  readonly #runs: RunHost;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(tenants: Tenants, runs: RunHost, clock: Clock) {
    this.#tenants = tenants;
    this.#runs = runs;
    this.#clock = clock;
  }

  /** True from the call of `close`: `ready` says no, and connections close after their answer. */
  get draining(): boolean {
    return this.#closed !== undefined;
  }

  /** Aborted when waits are to answer with what is. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Drains within so many seconds: a fifth of them, at most 5, pass for balancers; then streams end, spread
   * over half of the rest, and runs are handed over. Requests are served throughout. Called again: the same.
   */
  close(seconds: number): Promise<void> {
    this.#closed ??= this.#drain(seconds);
    return this.#closed;
  }

  async #drain(seconds: number): Promise<void> {
    const begun = this.#clock.monotonic();
    await this.#clock.sleep(Math.min(balancerSeconds, seconds / 5) * 1_000);
    this.#closing.abort();
    const left = (): number => Math.max(0, seconds - (this.#clock.monotonic() - begun) / 1_000);
    await this.#tenants.drain(left());
    await this.#runs.close({ seconds: left() });
    this.#tenants.dispose();
  }
}
