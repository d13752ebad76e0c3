import { rateLimited } from "./rate-limits.ts";
import type { RateLimits, RateState } from "./rate-limits.ts";

/** Addresses that are refused and remembered at once. The oldest is forgotten for another. */
const mostRefused = 10_000;

/** An address that has sent too many, and until when it is refused. */
interface Refused {
  readonly until: number;
  readonly state: RateState;
}

/**
 * Counts credentials that were wrong, by the address that they came from. An address that has sent too many is
 * refused before `authenticate` is asked: guesses cost a lookup or a signature each.
 */
export class WrongCredentials {
  readonly #rates: RateLimits;
  readonly #limit: number;
  readonly #now: () => number;
  readonly #refused = new Map<string, Refused>();

  constructor(rates: RateLimits, limit: number, now: () => number) {
    this.#rates = rates;
    this.#limit = limit;
    this.#now = now;
  }

  /** Throws `rate_limited` for an address that has sent too many. */
  admit(address: string): void {
    const refused = this.#refused.get(address);
    if (refused === undefined) return;
    const seconds = Math.ceil((refused.until - this.#now()) / 1_000);
    if (seconds > 0) throw rateLimited({ ...refused.state, leftMs: seconds * 1_000 });
    this.#refused.delete(address);
  }

  /** Counts one. Throws `rate_limited` if there were too many. */
  async charge(address: string): Promise<void> {
    const name = "credentials";
    const key = `${name}:${address}`;
    const state = await this.#rates.take({ name, key, limit: this.#limit });
    if (state?.taken !== false) return;
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= mostRefused) this.#refused.delete(oldest);
    this.#refused.set(address, { until: this.#now() + state.leftMs, state });
    throw rateLimited(state);
  }
}
