import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "../../scripts/services/redis.ts";
import type { Server } from "../../scripts/services/server.ts";
import type { DeployedNode, Deployment } from "../kit/deployment/deployment.ts";
import type { Random } from "../kit/random.ts";
import { until } from "../kit/until.ts";

/** A fault of a deployment. It resolves when the fault is over. */
export type Fault = (deployment: Deployment, random: Random) => Promise<void>;

/** All kinds of faults, by name. */
export const faults: Readonly<Record<string, Fault>> = {
  "worker killed": (deployment, random) => killed(random.pick(deployment.workers), random),
  "worker stopped": (deployment, random) => stopped(random.pick(deployment.workers), random),
  "web node killed": (deployment, random) => killed(random.pick(deployment.webs), random),
  "web node stopped": (deployment, random) => stopped(random.pick(deployment.webs), random),
  "Redis killed": async ({ redis }, random) => {
    await redis.kill();
    await between(random, 0, 2_500);
    await redis.restart();
  },
  "Redis paused": async ({ redis }, random) => {
    await redis.stop();
    await between(random, 300, 4_000);
    await redis.cont();
  },
  "Redis flushed": async ({ redis }) => await tell(redis, "FLUSHALL"),
  "Redis full": async ({ redis }, random) => {
    await tell(redis, "CONFIG SET maxmemory-policy noeviction", "CONFIG SET maxmemory 1");
    await between(random, 300, 2_500);
    await tell(redis, "CONFIG SET maxmemory 0");
  },
  "Redis evicts": async ({ redis }, random) => {
    await tell(redis, "CONFIG SET maxmemory-policy allkeys-random", "CONFIG SET maxmemory 1mb");
    await between(random, 300, 2_000);
    await tell(redis, "CONFIG SET maxmemory 0");
  },
  "PostgreSQL killed": async ({ postgres }, random) => {
    await postgres.kill();
    await between(random, 0, 3_000);
    await postgres.restart();
  },
  "PostgreSQL paused": async ({ postgres }, random) => {
    await postgres.stop();
    await between(random, 300, 4_000);
    await postgres.cont();
  },
  "PostgreSQL ends its connections": async ({ postgres }) => {
    const others = "pid <> pg_backend_pid() and backend_type = 'client backend'";
    await postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
  },
  "connections to Redis cut": async ({ nodes }, random) => random.pick(nodes).redis.cut(),
  "connections to PostgreSQL cut": async ({ nodes }, random) => random.pick(nodes).postgres.cut(),
  "Redis unreachable for one node": ({ nodes }, random) => refused(random, nodes, "redis"),
  "PostgreSQL unreachable for one node": ({ nodes }, random) => refused(random, nodes, "postgres"),
  "Redis silent for one node": ({ nodes }, random) => silent(random, nodes, "redis"),
  "PostgreSQL silent for one node": ({ nodes }, random) => silent(random, nodes, "postgres"),
  "clock set": async ({ nodes }, random) =>
    random.pick(nodes).clock?.set(random.pick([3_600, -3_600, -120, 45, 0])),
};

/** The faults that a deployment has beside them if Temporal drives it. */
export const temporalFaults: Readonly<Record<string, Fault>> = {
  "Temporal killed": async ({ temporal }, random) => {
    await temporal?.kill();
    await between(random, 0, 2_500);
    await temporal?.restart();
  },
  "Temporal paused": async ({ temporal }, random) => {
    await temporal?.stop();
    await between(random, 300, 4_000);
    await temporal?.cont();
  },
  "Temporal's database killed": async ({ temporal }, random) => {
    await temporal?.postgres.kill();
    await between(random, 0, 2_500);
    await temporal?.postgres.restart();
  },
  "connections to Temporal cut": async ({ nodes }, random) => random.pick(nodes).temporal?.cut(),
  "Temporal unreachable for one node": ({ nodes }, random) => refused(random, nodes, "temporal"),
  "Temporal silent for one node": ({ nodes }, random) => silent(random, nodes, "temporal"),
};

/** The servers whose faults would hinder each other. */
const servers = ["Redis", "PostgreSQL", "Temporal", "worker", "web node"] as const;

/**
 * Two faults of one server, or of one sort of process, do not overlap: the second would find it killed.
 * Faults of the ways to a server do.
 */
export function hinders(one: string, other: string): boolean {
  const subject = (name: string): string | undefined =>
    servers.find((server) => name.startsWith(server) && !name.endsWith("for one node"));
  return subject(one) !== undefined && subject(one) === subject(other);
}

/** Repeats what Redis did not take in time: else one that is only busy would stay full. */
async function tell({ port }: Server, ...commands: readonly string[]): Promise<void> {
  const isTaken = (): Promise<boolean> =>
    ask(port, ...commands).then(
      () => true,
      () => false,
    );
  await until(isTaken, `Redis takes ${commands.join(", ")}`);
}

async function killed({ process }: DeployedNode, random: Random): Promise<void> {
  await process.kill();
  await between(random, 100, 2_000);
  await process.start();
}

async function stopped({ process }: DeployedNode, random: Random): Promise<void> {
  process.stop();
  await between(random, 300, 4_000);
  process.cont();
}

type Way = "redis" | "postgres" | "temporal";

async function refused(random: Random, nodes: readonly DeployedNode[], way: Way): Promise<void> {
  const { [way]: proxy } = random.pick(nodes);
  proxy?.refuse(true);
  await between(random, 500, 3_000);
  proxy?.refuse(false);
}

async function silent(random: Random, nodes: readonly DeployedNode[], way: Way): Promise<void> {
  const { [way]: proxy } = random.pick(nodes);
  proxy?.blackhole(true);
  await between(random, 500, 5_000);
  proxy?.blackhole(false);
}

async function between(random: Random, least: number, most: number): Promise<void> {
  await sleep(least + random.next() * (most - least));
}
