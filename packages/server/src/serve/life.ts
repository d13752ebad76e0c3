import type { Clock } from "@millrace/core/ports";
import type { RunHost } from "../runs/run-host.ts";
import type { Tenants } from "./tenants.ts";

/** Time for balancers to notice that `ready` says no, before streams end. */
const balancerMs = 5_000;

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
   * Drains within so many milliseconds: a fifth of them, at most 5 s, pass for balancers; then streams end, spread
   * over half of the rest, and runs are handed over. Requests are served throughout. Called again: the same.
   */
  close(ms: number): Promise<void> {
    this.#closed ??= this.#drain(ms);
    return this.#closed;
  }

  async #drain(ms: number): Promise<void> {
    const begun = this.#clock.monotonic();
    await this.#clock.sleep(Math.min(balancerMs, ms / 5));
    this.#closing.abort();
    const left = (): number => Math.max(0, ms - (this.#clock.monotonic() - begun));
    await this.#tenants.drain(left());
    await this.#runs.close({ drainMs: left() });
    this.#tenants.dispose();
  }
}
