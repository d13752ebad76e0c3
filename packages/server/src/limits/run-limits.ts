import type { WorkerOptions } from "@millrace/agent/worker";
import { systemClock } from "@millrace/core/memory";
import type { Clock, Counters, SessionRecord } from "@millrace/core/ports";
import { defaultLimits } from "../http/route-limits.ts";
import { Spend } from "./spend.ts";
import type { SpendLimits } from "./spend.ts";
import { admitRuns, RunPlaces } from "./run-places.ts";
import type { RunLimits } from "./run-places.ts";

/** What limits runs where they are driven. What is left out is the server's default. */
export interface RunLimitsOptions extends Partial<RunLimits>, Partial<SpendLimits> {
  /** Those of the server, which all processes share. */
  readonly counters: Counters;
  /** The tenant of sessions whose record names none. `default` if left out. */
  readonly tenant?: string | undefined;
  /** That of the worker. `systemClock` if left out. */
  readonly clock?: Clock | undefined;
}

/** What a worker is given of the limits. */
export type LimitedRuns = Required<Pick<WorkerOptions, "admit" | "acquireSlot" | "allowance">>;

/**
 * The limits of runs for a worker beside a server with `driver: false`: runs at once and spend of an owner
 * and of a tenant, counted together with all other processes. Spread it into the options of `createWorker`.
 */
export function runLimits({
  counters,
  tenant = "default",
  clock = systemClock,
  ...given
}: RunLimitsOptions): LimitedRuns {
  const limits = { ...defaultLimits, ...given };
  const spend = new Spend(counters, limits, clock.monotonic);
  return limitRuns({ counters, tenant, limits, spend, clock });
}

/** The same, with what a server has already. */
export function limitRuns(parts: {
  readonly counters: Counters;
  readonly tenant: string;
  readonly limits: RunLimits;
  readonly spend: Spend;
  readonly clock: Clock;
}): LimitedRuns {
  const { limits, spend } = parts;
  const places = new RunPlaces(parts);
  const tenantOf = ({ tenant }: SessionRecord): string => tenant ?? parts.tenant;
  return {
    admit: admitRuns(limits),
    acquireSlot: (session, driver) =>
      places.enter({ ...session, tenant: tenantOf(session) }, driver),
    // A sub-agent's costs are those of its root's run, and its owner's.
    allowance: (session) => spend.allowance({ tenant: tenantOf(session), user: session.owner }),
  };
}
