import type { RedisLogOptions } from "@millrace/stores/redis";
import type { TemporalWorkerWay } from "../../kit/deployment/temporal-way.ts";

/** The argument of a worker's program under load. */
export interface LoadNodeConfig {
  readonly postgres: string;
  readonly redis: string;
  /** How long lanes gather deltas. Left out: by the load, as by default. */
  readonly windowMs?: number | undefined;
}

/** The argument of a worker's program that Temporal drives. */
export interface TemporalLoadConfig extends LoadNodeConfig, TemporalWorkerWay {
  /** The steps that it may have at once. */
  readonly steps: number;
  /** Where it shows its counts of requests to Temporal. */
  readonly metricsPort: number;
}

/** The options of the log of such a worker. */
export function logOptions({ redis, windowMs }: LoadNodeConfig): RedisLogOptions {
  const window = windowMs === undefined ? undefined : { leastMs: windowMs, mostMs: windowMs };
  return { url: redis, window };
}
