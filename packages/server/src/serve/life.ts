import type { Clock, SessionStore } from "@millrace/core/ports";
import type { RunHost } from "../runs/run-host.ts";
import type { Tenants } from "./tenants.ts";
import type { Answer } from "../http/answer.ts";
import { Problem } from "../http/problem.ts";
import type { Route, RouteName } from "../http/route.ts";
import { openapiDocument } from "../openapi/document.ts";

/** Time for balancers to notice that `ready` fails, before streams end. */
const balancerMs = 5_000;

/** The end of a server: what is refused, what ends and what is handed over, and in which order. */
export class Life {
  readonly #tenants: Tenants;
  readonly #runs: RunHost;
  readonly clock: Clock;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(tenants: Tenants, runs: RunHost, clock: Clock) {
    this.#tenants = tenants;
    this.#runs = runs;
    this.clock = clock;
  }

  /** True from the call of `close`: `ready` fails, and connections close after their answer. */
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
    const begun = this.clock.monotonic();
    await this.clock.sleep(Math.min(balancerMs, ms / 5));
    this.#closing.abort();
    const left = (): number => Math.max(0, ms - (this.clock.monotonic() - begun));
    await this.#tenants.drain(left());
    await this.#runs.close({ drainMs: left() });
    this.#tenants.dispose();
  }
}

/** How long the store may take to answer before the process counts as not ready. */
const storeMs = 2_000;

/** The routes of the server itself. */
export function ownRoutes(
  life: Life,
  store: () => SessionStore,
  routes: readonly Route[],
): Readonly<Partial<Record<RouteName, () => Promise<Answer>>>> {
  return {
    health: async () => ({ status: 200 }),
    ready: async () => {
      const retryAfter = 5;
      if (life.draining) throw new Problem("overloaded", "the server is closing", { retryAfter });
      if (await answers(store(), life.clock)) return { status: 200 };
      throw new Problem("store_unavailable", "the store does not answer", { retryAfter });
    },
    openapi: async () => ({ status: 200, json: openapiDocument(routes) }),
  };
}

/** Whether the store answers a question that costs it little. */
async function answers(store: SessionStore, clock: Clock): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const inTime = clock.after(storeMs, () => resolve(false));
  try {
    const asked = store.find("ready").then(() => true as const);
    return await Promise.race([asked, late]);
  } catch {
    return false;
  } finally {
    inTime();
  }
}
