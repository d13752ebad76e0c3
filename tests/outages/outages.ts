import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "../../scripts/services/redis.ts";
import type { Deployment } from "../kit/deployment/deployment.ts";

/** An outage of a server. */
export interface Outage {
  readonly name: string;
  /** Which server is away. While it is only Redis, commands go on at the pace of the poll. */
  readonly server: "Redis" | "PostgreSQL";
  /** How long it is away, beside its start. */
  readonly ms: number;
  readonly begin: (deployment: Deployment) => Promise<unknown>;
  /** Resolves when the server answers again. */
  readonly end: (deployment: Deployment) => Promise<unknown>;
}

const nothing = async (): Promise<void> => undefined;

/** All outages after which a deployment has to go on. */
export const outages: readonly Outage[] = [
  {
    name: "PostgreSQL is killed for 30 s",
    server: "PostgreSQL",
    ms: 30_000,
    begin: ({ postgres }) => postgres.kill(),
    end: ({ postgres }) => postgres.restart(),
  },
  {
    name: "PostgreSQL is paused for 10 s",
    server: "PostgreSQL",
    ms: 10_000,
    begin: ({ postgres }) => postgres.stop(),
    end: ({ postgres }) => postgres.cont(),
  },
  {
    name: "PostgreSQL is restarted",
    server: "PostgreSQL",
    ms: 0,
    begin: nothing,
    end: ({ postgres }) => postgres.restart(),
  },
  {
    name: "Redis is killed for 5 s",
    server: "Redis",
    ms: 5_000,
    begin: ({ redis }) => redis.kill(),
    end: ({ redis }) => redis.restart(),
  },
  {
    name: "Redis is blackholed for 5 s",
    server: "Redis",
    ms: 5_000,
    begin: async ({ nodes }) => nodes.forEach(({ redis }) => redis.blackhole(true)),
    end: async ({ nodes }) => nodes.forEach(({ redis }) => redis.blackhole(false)),
  },
  {
    name: "Redis is restarted",
    server: "Redis",
    ms: 0,
    begin: nothing,
    end: ({ redis }) => redis.restart(),
  },
  {
    name: "Redis is flushed",
    server: "Redis",
    ms: 0,
    begin: nothing,
    end: ({ redis }) => ask(redis.port, "FLUSHALL"),
  },
];

/** Begins the outage, does something meanwhile, and ends it after its time. */
export async function passOutage(
  { begin, end, ms }: Outage,
  deployment: Deployment,
  meanwhile: () => Promise<void>,
): Promise<void> {
  await begin(deployment);
  await Promise.all([sleep(ms), meanwhile()]);
  await end(deployment);
}
