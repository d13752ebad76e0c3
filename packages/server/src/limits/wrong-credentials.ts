import type { Counters } from "@millrace/core/ports";
import { Problem } from "../http/problem.ts";
import type { ServerLimits } from "../http/route-limits.ts";

const windowMs = 60_000;
const policy = "wrongCredentialsPerAddress";
/** Addresses that are refused and remembered at once. The oldest is forgotten for another. */
const mostRefused = 10_000;

/**
 * Counts credentials that were wrong, by the address that they came from. An address that has sent too many is
 * refused before `authenticate` is asked: guesses cost a lookup or a signature each. Counters that are away refuse
 * nothing.
 */
export class WrongCredentials {
  readonly #counters: Counters;
  readonly #limit: number;
  readonly #now: () => number;
  /** Until when. */
  readonly #refused = new Map<string, number>();

  constructor(counters: Counters, limits: ServerLimits, now: () => number) {
    this.#counters = counters;
    this.#limit = limits[policy];
    this.#now = now;
  }

  /** Throws `rate_limited` for an address that has sent too many. */
  admit(address: string): void {
    const leftMs = (this.#refused.get(address) ?? 0) - this.#now();
    if (leftMs > 0) throw tooMany(this.#limit, leftMs);
    this.#refused.delete(address);
  }

  /** Counts one. Throws `rate_limited` if there were too many. */
  async charge(address: string): Promise<void> {
    if (this.#limit === Infinity) return;
    const key = `credentials:${address}`;
    const state = await this.#take(key);
    if (state === undefined || state.taken) return;
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= mostRefused) this.#refused.delete(oldest);
    this.#refused.set(address, this.#now() + state.leftMs);
    throw tooMany(this.#limit, state.leftMs);
  }

  async #take(key: string): Promise<{ readonly taken: boolean; readonly leftMs: number } | void> {
    try {
      return await this.#counters.take({ key, limit: this.#limit, windowMs });
    } catch {
      return undefined; // a limit must not take the service down with its counters
    }
  }
}

function tooMany(limit: number, leftMs: number): Problem {
  const detail = `more than ${limit} wrong credentials in ${windowMs / 1_000} s from this address (${policy}): wait`;
  return new Problem("rate_limited", detail, { policy, retryAfter: Math.ceil(leftMs / 1_000) });
}
