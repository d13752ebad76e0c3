/**
 * One Redis and one PostgreSQL for all tests of a worker process, started on first use. They end
 * with the process, also when it crashes. A test that kills, stops or empties a server starts its
 * own.
 */
import { randomBytes } from "node:crypto";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";
import type { Server } from "./server.ts";

/** A test's part of the shared Redis. */
export interface RedisSpace {
  readonly url: string;
  /** The prefix of this test's keys. Unique to the test. */
  readonly prefix: string;
  readonly server: Server;
}

/** A test's part of the shared PostgreSQL: a database of its own, dropped at the end of its scope. */
export interface PostgresSpace extends AsyncDisposable {
  readonly url: string;
  readonly database: string;
  readonly server: PostgresServer;
}

let redis: Promise<Server> | undefined;
let postgres: Promise<PostgresServer> | undefined;

/** A new prefix in this process's Redis. */
export async function sharedRedis(): Promise<RedisSpace> {
  redis ??= startRedis();
  const server = await redis;
  return { url: server.url, prefix: `${uniqueName()}:`, server };
}

/** A new and empty database in this process's PostgreSQL. */
export async function sharedPostgres(): Promise<PostgresSpace> {
  postgres ??= startPostgres();
  const server = await postgres;
  const database = uniqueName();
  await server.query(`create database ${database}`);
  return {
    url: server.urlOf(database),
    database,
    server,
    [Symbol.asyncDispose]: async () => {
      await server.query(`drop database if exists ${database} with (force)`);
    },
  };
}

/** A name that is valid unquoted in SQL and in keys. */
function uniqueName(): string {
  return `test_${randomBytes(6).toString("hex")}`;
}
