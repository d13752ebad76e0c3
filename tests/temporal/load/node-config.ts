import type { TemporalWorkerWay } from "../../kit/deployment/temporal-way.ts";

/** The argument of a worker's program under load. */
export interface LoadNodeConfig {
  readonly postgres: string;
  readonly redis: string;
}

/** The argument of a worker's program that Temporal drives. */
export interface TemporalLoadConfig extends LoadNodeConfig, TemporalWorkerWay {
  /** The steps that it may have at once. */
  readonly steps: number;
  /** Where it shows its counts of requests to Temporal. */
  readonly metricsPort: number;
}
