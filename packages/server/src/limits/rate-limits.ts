import type { Counters, CounterState } from "@millrace/core/ports";
import type { Identity } from "../http/identity.ts";
import { Problem } from "../http/problem.ts";
import type { Bucket } from "../http/route.ts";
import type { ServerLimits } from "../http/route-limits.ts";

const windowMs = 60_000;

/** A limit on requests, by the name that headers and problems show. */
interface Policy {
  readonly name: string;
  readonly key: string;
  readonly limit: number;
  /** 1 if left out. */
  readonly amount?: number;
}

/** The tightest policy of a request, for its headers. */
export interface RateState extends CounterState {
  readonly policy: string;
  readonly limit: number;
}

/** Counts requests by user, tenant and bucket. Counters that are away refuse nothing. */
export class RateLimits {
  readonly #counters: Counters;
  readonly #limits: ServerLimits;

  constructor(counters: Counters, limits: ServerLimits) {
    this.#counters = counters;
    this.#limits = limits;
  }

  /** Counts one request. Throws `rate_limited`. Undefined if nothing was counted. */
  async charge(who: Identity, bucket: Bucket): Promise<RateState | undefined> {
    let tightest: RateState | undefined;
    for (const policy of this.#policies(who, bucket)) {
      const state = await this.take(policy);
      if (state === undefined) continue;
      if (!state.taken) throw rateLimited(state);
      if (tightest === undefined || state.remaining < tightest.remaining) tightest = state;
    }
    return tightest;
  }

  /** Counts the bytes of a large body. Throws `rate_limited`. Small ones are bounded by the number of requests. */
  async chargeBytes(who: Identity, amount: number): Promise<void> {
    if (amount <= this.#limits.controlBytes) return;
    const name = "bytes";
    const limit = this.#limits.bytesPerUser;
    const state = await this.take({ name, key: keyFor(who, name), limit, amount });
    if (state?.taken === false) throw rateLimited(state);
  }

  /** Counts one answer 404. Throws `rate_limited` if there were too many: ids are being tried out. */
  async chargeNotFound(who: Identity): Promise<void> {
    const name = "not_found";
    const limit = this.#limits.notFoundPerUser;
    const state = await this.take({ name, key: keyFor(who, name), limit });
    if (state?.taken === false) throw rateLimited(state);
  }

  /** Takes from a limit. Undefined if there is none, or its counters are away. */
  async take({ name, key, limit, amount }: Policy): Promise<RateState | undefined> {
    if (limit === Infinity) return undefined;
    try {
      const state = await this.#counters.take({ key, limit, windowMs, amount });
      return { ...state, policy: name, limit };
    } catch {
      return undefined; // a limit must not take the service down with its counters
    }
  }

  #policies(who: Identity, bucket: Bucket): readonly Policy[] {
    const limits = this.#limits;
    const own = (name: string, limit: number): Policy => ({ name, key: keyFor(who, name), limit });
    // Stop works when all else is refused.
    if (bucket === "aborts") return [own("aborts", limits.abortsPerUser)];
    if (bucket === "none") return [];
    const tenant = { ...who, user: "" };
    const all: Policy[] = [
      own("requests", limits.requestsPerUser),
      { name: "tenant", key: keyFor(tenant, "tenant"), limit: limits.requestsPerTenant },
    ];
    if (bucket === "creations") all.push(own("creations", limits.creationsPerUser));
    if (bucket === "inputs") all.push(own("inputs", limits.inputsPerUser));
    if (bucket === "tickets") all.push(own("tickets", limits.ticketsPerUser));
    return all;
  }
}

/** `RateLimit` and `RateLimit-Policy` of an answer. */
export function rateHeaders(state: RateState): Readonly<Record<string, string>> {
  const { policy, limit, remaining, leftMs } = state;
  return {
    "ratelimit-policy": `"${policy}";q=${limit};w=${windowMs / 1_000}`,
    ratelimit: `"${policy}";r=${remaining};t=${leftMs / 1_000}`,
  };
}

/** Tenant and user are of any text: lengths keep two pairs from making one key. */
function keyFor({ tenant, user }: Identity, name: string): string {
  return `${name}:${tenant.length}:${tenant}:${user}`;
}

/** The refusal by a limit that is reached. */
export function rateLimited(state: RateState): Problem {
  const { policy, limit, leftMs } = state;
  const detail = `more than ${limit} in ${windowMs / 1_000} s (${policy}): wait`;
  const headers = rateHeaders(state);
  return new Problem("rate_limited", detail, { policy, retryAfter: leftMs / 1_000, headers });
}
