import type { Usage } from "@millrace/core";
import type { Allowance } from "@millrace/agent/worker";
import type { Counters, CounterState } from "@millrace/core/ports";
import type { ServerLimits } from "../http/route-limits.ts";

/** The limits on spend. */
export type SpendLimits = Pick<ServerLimits, "spendPerUser" | "spendPerTenant">;

/** A limit on spend that is reached. */
export interface Overspent {
  readonly policy: keyof SpendLimits;
  readonly limit: number;
  /** Until the window of a day ends. */
  readonly seconds: number;
}

/** Whose money it is: a session's owner, and the tenant. A session without an owner spends the tenant's alone. */
export interface Payer {
  readonly tenant: string;
  readonly user: string | undefined;
}

const windowMs = 86_400_000;
/** Limits that are known to be reached. */
const keptKeys = 10_000;

interface Policy {
  readonly name: keyof SpendLimits;
  readonly key: string;
  readonly limit: number;
}

/**
 * Counts what runs cost, by owner and tenant, in micro-dollars within windows of a day that begin with the
 * first cost. A reply whose cost is not known counts nothing: give the agent a `price`. Counters that are away
 * refuse nothing, and lose what was spent meanwhile.
 */
export class Spend {
  readonly #counters: Counters;
  readonly #limits: SpendLimits;
  readonly #monotonic: () => number;
  /** Until when a limit is known to be reached, by its key: runs ask before each request, without a wait. */
  readonly #reached = new Map<string, number>();

  constructor(counters: Counters, limits: SpendLimits, monotonic: () => number) {
    this.#counters = counters;
    this.#limits = limits;
    this.#monotonic = monotonic;
  }

  /** The limit that is reached, if any. Costs nothing where no limit is set. */
  async overspent(payer: Payer): Promise<Overspent | undefined> {
    for (const policy of this.#policies(payer)) {
      const state = await this.#add(policy, 0);
      if (state !== undefined && state.remaining <= 0)
        return overspentBy(policy, state.leftMs / 1_000);
    }
    return undefined;
  }

  /** The budget of a session's runs. Undefined where no limit is set. Another process's costs show with the next one here. */
  async allowance(payer: Payer): Promise<Allowance | undefined> {
    const policies = this.#policies(payer);
    if (policies.length === 0) return undefined;
    const add = async (amount: number): Promise<void> => {
      for (const policy of policies) await this.#add(policy, amount);
    };
    await add(0);
    return {
      exhausted: () =>
        policies.find(({ key }) => (this.#reached.get(key) ?? -Infinity) > this.#monotonic())?.name,
      spend: (usage) => add(microDollars(usage)),
    };
  }

  async #add({ key, limit }: Policy, amount: number): Promise<CounterState | undefined> {
    try {
      const use = { key, limit, windowMs, amount, beyond: true };
      const state = await this.#counters.take(use);
      if (this.#reached.size >= keptKeys) this.#reached.clear(); // it is known again with the next cost
      if (state.remaining > 0) this.#reached.delete(key);
      else this.#reached.set(key, this.#monotonic() + state.leftMs);
      return state;
    } catch {
      return undefined; // a limit must not take the service down with its counters
    }
  }

  #policies({ tenant, user }: Payer): readonly Policy[] {
    const { spendPerUser, spendPerTenant } = this.#limits;
    const all: Policy[] = [];
    const place = `${tenant.length}:${tenant}`;
    if (user !== undefined && spendPerUser !== Infinity) {
      all.push({ name: "spendPerUser", key: `spend:${place}:${user}`, limit: spendPerUser });
    }
    if (spendPerTenant !== Infinity) {
      all.push({ name: "spendPerTenant", key: `spends:${place}`, limit: spendPerTenant });
    }
    return all;
  }
}

function overspentBy({ name, limit }: Policy, seconds: number): Overspent {
  return { policy: name, limit, seconds };
}

/** Rounded up, so that many small replies are not free. */
function microDollars({ cost = 0 }: Usage): number {
  return cost > 0 ? Math.ceil(Math.round(cost * 1e12) / 1e6) : 0;
}
