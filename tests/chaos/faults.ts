import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { ask } from "../../scripts/services/redis.ts";
import type { Server } from "../../scripts/services/server.ts";
import type { DeployedNode, Deployment } from "../kit/deployment/deployment.ts";
import type { OutageProxy } from "../kit/deployment/outage-proxy.ts";
import type { Random } from "../kit/random.ts";
import { until } from "../kit/until.ts";

/** What faults happen to. */
export interface FaultyPlace {
  readonly deployment: Deployment;
  /** Between viewers and web nodes: one before each node, and one that takes them in turn. */
  readonly edges: readonly OutageProxy[];
  /** The first process of each sort is not ended: what it holds is watched for long. */
  readonly firstLives?: boolean | undefined;
}

/** A fault. It resolves when it is over. */
export type Fault = (place: FaultyPlace, random: Random) => Promise<void>;

/** All kinds of faults, by name. */
export const faults: Readonly<Record<string, Fault>> = {
  "worker killed": (place, random) => killed(mortal(place, driversOf(place), random), random),
  "worker stopped": (place, random) => stopped(random.pick(driversOf(place)), random),
  "worker replaced": (place, random) => replaced(mortal(place, driversOf(place), random)),
  "web node killed": (place, random) =>
    killed(mortal(place, place.deployment.webs, random), random),
  "web node stopped": ({ deployment: { webs } }, random) => stopped(random.pick(webs), random),
  "web node replaced": (place, random) => replaced(mortal(place, place.deployment.webs, random)),
  "Redis killed": async ({ deployment: { redis } }, random) => {
    await redis.kill();
    await between(random, 0, 2_500);
    await redis.restart();
  },
  "Redis paused": async ({ deployment: { redis } }, random) => {
    await redis.stop();
    await between(random, 300, 4_000);
    await redis.cont();
  },
  "Redis flushed": async ({ deployment: { redis } }) => await send(redis, "FLUSHALL"),
  "Redis full": async ({ deployment: { redis } }, random) => {
    await send(redis, "CONFIG SET maxmemory-policy noeviction", "CONFIG SET maxmemory 1");
    await between(random, 300, 2_500);
    await send(redis, "CONFIG SET maxmemory 0");
  },
  "Redis evicts": async ({ deployment: { redis } }, random) => {
    await send(redis, "CONFIG SET maxmemory-policy allkeys-random", "CONFIG SET maxmemory 1mb");
    await between(random, 300, 2_000);
    await send(redis, "CONFIG SET maxmemory 0");
  },
  "Redis a replica": async ({ deployment: { redis } }, random) => {
    await send(redis, "SCRIPT FLUSH", "REPLICAOF 127.0.0.1 1");
    await between(random, 300, 3_000);
    await send(redis, "REPLICAOF NO ONE");
  },
  "Redis ends its connections": async ({ deployment: { redis } }) =>
    await send(redis, "CLIENT KILL TYPE normal", "CLIENT KILL TYPE pubsub"),
  "PostgreSQL killed": async ({ deployment: { postgres } }, random) => {
    await postgres.kill();
    await between(random, 0, 3_000);
    await postgres.restart();
  },
  "PostgreSQL paused": async ({ deployment: { postgres } }, random) => {
    await postgres.stop();
    await between(random, 300, 4_000);
    await postgres.cont();
  },
  "PostgreSQL ends its connections": async ({ deployment: { postgres } }) => {
    const others = "pid <> pg_backend_pid() and backend_type = 'client backend'";
    await query(postgres, `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
  },
  "PostgreSQL read-only": async ({ deployment: { postgres } }, random) => {
    await query(postgres, "alter system set default_transaction_read_only = on");
    await query(postgres, "select pg_reload_conf()");
    await between(random, 300, 3_000);
    await query(postgres, "alter system reset default_transaction_read_only");
    await query(postgres, "select pg_reload_conf()");
  },
  "PostgreSQL locked": async ({ deployment: { postgres } }, random) => {
    const seconds = (0.3 + random.next() * 3).toFixed(2);
    const lock = "lock table millrace.session in exclusive mode";
    await query(postgres, `begin; ${lock}; select pg_sleep(${seconds}); commit`);
  },
  "PostgreSQL out of connections": async ({ deployment: { postgres } }, random) => {
    const clients = await takeConnections(postgres.url);
    await between(random, 300, 2_500);
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  },
  "PostgreSQL's disk full": async ({ deployment: { postgres } }, random) => {
    await query(postgres, fillDisk);
    await between(random, 300, 3_000);
    await query(postgres, emptyDisk);
  },
  "connections to Redis cut": async ({ deployment: { nodes } }, random) =>
    random.pick(nodes).redis.cut(),
  "connections to PostgreSQL cut": async ({ deployment: { nodes } }, random) =>
    random.pick(nodes).postgres.cut(),
  "answers of Redis cut for one node": async ({ deployment: { nodes } }, random) =>
    random.pick(nodes).redis.cutAfter(random.below(400)),
  "answers of PostgreSQL cut for one node": async ({ deployment: { nodes } }, random) =>
    random.pick(nodes).postgres.cutAfter(random.below(400)),
  "Redis unreachable for one node": ({ deployment: { nodes } }, random) =>
    refused(random, random.pick(nodes).redis),
  "PostgreSQL unreachable for one node": ({ deployment: { nodes } }, random) =>
    refused(random, random.pick(nodes).postgres),
  "Redis silent for one node": ({ deployment: { nodes } }, random) =>
    silent(random, random.pick(nodes).redis),
  "PostgreSQL silent for one node": ({ deployment: { nodes } }, random) =>
    silent(random, random.pick(nodes).postgres),
  "viewers cut": async ({ edges }, random) => random.pick(edges).cut(),
  "answers to viewers cut": async ({ edges }, random) => {
    for (const edge of edges) edge.cutAfter(random.below(700));
  },
  "web unreachable for viewers": ({ edges }, random) => refused(random, random.pick(edges)),
  "web silent for viewers": ({ edges }, random) => silent(random, random.pick(edges)),
  "clock set": async ({ deployment: { nodes } }, random) =>
    random.pick(nodes).clock?.set(random.pick([3_600, -3_600, 86_400, -120, 45, 0])),
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

/** PostgreSQL's code for a full disk, with which it refuses each fact while the trigger is there. */
const fillDisk = `
  create function millrace.full_disk() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
  create trigger full_disk before insert on millrace.fact execute function millrace.full_disk();
`;
const emptyDisk = "drop function if exists millrace.full_disk() cascade";

/** Takes all connections that the server has left. */
async function takeConnections(connectionString: string): Promise<readonly Client[]> {
  const clients: Client[] = [];
  for (let left = 250; left > 0; left -= 1) {
    const client = new Client({ connectionString, connectionTimeoutMillis: 3_000 });
    client.on("error", () => undefined); // it may be ended by another fault
    try {
      await client.connect();
    } catch {
      break;
    }
    clients.push(client);
  }
  return clients;
}

/** Repeats what Redis did not take in time: else one that is only busy would stay full. */
async function send({ port }: Server, ...commands: readonly string[]): Promise<void> {
  await until(() => succeeds(ask(port, ...commands)), `Redis takes ${commands.join(", ")}`);
}

/** The same of PostgreSQL, which may have no connection left, or be locked by another fault. */
async function query(postgres: Deployment["postgres"], sql: string): Promise<void> {
  await until(() => succeeds(postgres.query(sql)), `PostgreSQL takes ${sql}`, { everyMs: 200 });
}

function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

function driversOf({ deployment: { workers, webs } }: FaultyPlace): readonly DeployedNode[] {
  return workers.length > 0 ? workers : webs;
}

/** One that may be ended. */
function mortal(
  { firstLives }: FaultyPlace,
  nodes: readonly DeployedNode[],
  random: Random,
): DeployedNode {
  return random.pick(firstLives === true ? nodes.slice(1) : nodes);
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

/** As a deploy does. */
async function replaced({ name, process }: DeployedNode): Promise<void> {
  const gone = process.terminate().then(() => true);
  const late = sleep(goneMs).then(() => false);
  if (!(await Promise.race([gone, late]))) {
    await process.kill();
    throw new Error(`${name} runs ${goneMs} ms after SIGTERM`);
  }
  await process.start();
}

/** How long a process may take to end after SIGTERM, whatever else happens. */
const goneMs = 20_000;

export async function refused(random: Random, proxy: OutageProxy | undefined): Promise<void> {
  proxy?.refuse(true);
  await between(random, 500, 4_000);
  proxy?.refuse(false);
}

export async function silent(random: Random, proxy: OutageProxy | undefined): Promise<void> {
  proxy?.blackhole(true);
  await between(random, 500, 5_000);
  proxy?.blackhole(false);
}

export async function between(random: Random, least: number, most: number): Promise<void> {
  await sleep(least + random.next() * (most - least));
}
