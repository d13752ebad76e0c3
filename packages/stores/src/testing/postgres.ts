import { randomBytes } from "node:crypto";
import { Pool } from "pg";
import { sharedPostgres } from "../../../../scripts/services/shared.ts";
import type { PostgresServer } from "../../../../scripts/services/postgres.ts";
import { postgresStore } from "../postgres/postgres-store.ts";

/** A migrated database for one test file, and a role with the rights of an application. */
export interface Database extends AsyncDisposable {
  /** For the application's role, which is neither superuser nor owner. */
  readonly url: string;
  /** For the superuser. */
  readonly adminUrl: string;
  readonly role: string;
  /** A pool of the superuser, for whom there is no row-level security. */
  readonly adminPool: Pool;
  /** A pool of the application's role, ended with the database. */
  readonly pool: (options?: { readonly pipeline?: boolean; readonly max?: number }) => Pool;
  /** Runs SQL as superuser and gives its rows. */
  readonly admin: (
    text: string,
    values?: readonly unknown[],
  ) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Makes a database in the test process's own server. */
export async function openDatabase(): Promise<Database> {
  const space = await sharedPostgres();
  const database = await prepareDatabase(space.server, space.database);
  return {
    ...database,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]();
      await space[Symbol.asyncDispose]();
    },
  };
}

/** Migrates a database of a server. */
export async function prepareDatabase(
  server: Pick<PostgresServer, "urlOf">,
  name: string,
): Promise<Database> {
  const role = `app_${randomBytes(6).toString("hex")}`;
  const password = randomBytes(6).toString("hex");
  const adminUrl = server.urlOf(name);
  const url = adminUrl.replace(/\/\/[^@]*@/, `//${role}:${password}@`);
  const owner = openPool(adminUrl);
  await owner.query(`create role ${role} login password '${password}'`);
  await postgresStore({ pool: owner }).migrate({ role });
  const pools = [owner];
  return {
    url,
    adminUrl,
    role,
    adminPool: owner,
    pool: (options = {}) => {
      const pool = openPool(url, options);
      pools.push(pool);
      return pool;
    },
    admin: async (text, values) => {
      const given = values === undefined ? [] : [[...values]]; // several statements take no values
      return (await owner.query<Record<string, unknown>>(text, ...given)).rows;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/** A pool that outlives its connections. */
export function openPool(
  connectionString: string,
  { pipeline = true, max = 10 }: { readonly pipeline?: boolean; readonly max?: number } = {},
): Pool {
  const pool = new Pool({ connectionString, pipeline, max });
  pool.on("error", () => undefined); // servers are killed here
  return pool;
}
