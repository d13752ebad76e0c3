import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { MillraceError } from "@millrace/core";
import type { Pool, PoolClient } from "pg";
import { checkName } from "./statements.ts";

/** Where the tables are, and the role that uses them. */
export interface MigrateOptions {
  /** `millrace` by default. */
  readonly schema?: string | undefined;
  /**
   * An existing role that gets the rights of an application, which can't change or delete facts. Other
   * rights on these tables are revoked from it. Ignored for the role that migrates, which owns them.
   */
  readonly role?: string | undefined;
  /**
   * An existing role that gets the rights of an application, and sees besides which sessions of all
   * tenants have work, and their heads: for stores with `acrossTenants`.
   */
  readonly workerRole?: string | undefined;
}

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

/** The SQL that `migrate` runs on an empty database, for an operator that runs it by hand. */
export async function printSql(options: MigrateOptions = {}): Promise<string> {
  const { schema = "millrace" } = options;
  const parts = ["begin;", prepareText(schema)];
  for (const migration of await readMigrations()) {
    const { number, name, text, hash } = migration;
    parts.push(`-- ${name}`, inSchema(text, schema).trim());
    parts.push(
      `insert into migration (number, name, hash) values (${number}, '${name}', '${hash}');`,
    );
  }
  parts.push(await grantsText(schema, options), "commit;");
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/**
 * Brings the schema to this release, in one transaction. May be repeated, and run by many processes at
 * once: they take turns. Throws `broken_port` if a migration that was run differs from this release's.
 */
export async function migrate(pool: Pool, options: MigrateOptions = {}): Promise<void> {
  const { schema = "millrace" } = options;
  const [prepare, migrations] = [prepareText(schema), await readMigrations()];
  await grantsText(schema, options); // throws for a name that can't be one, before anything is changed
  const client = await pool.connect();
  try {
    await client.query("begin");
    // Before any other name is looked up: a function in `public` may be another role's.
    await client.query("set local search_path to pg_catalog, pg_temp");
    // Taken first, so that the transaction waits before it reads anything.
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [
      `millrace.migrate.${schema}`,
    ]);
    await client.query(prepare);
    const { rows } = await client.query<{ number: number; hash: string }>(
      "select number, hash from migration order by number",
    );
    for (const migration of pending(migrations, rows)) {
      const { number, name, text, hash } = migration;
      await client.query(inSchema(text, schema));
      await client.query("insert into migration (number, name, hash) values ($1, $2, $3)", [
        number,
        name,
        hash,
      ]);
    }
    const grants = await grantsText(schema, await otherRoles(client, options));
    if (grants !== "") await client.query(grants);
    await client.query("commit");
    client.release();
  } catch (error) {
    client.release(true); // closing the connection undoes the transaction
    throw error;
  }
}

/** Without the role that migrates: the owner keeps all rights, which its functions use. */
async function otherRoles(
  client: PoolClient,
  { role, workerRole }: MigrateOptions,
): Promise<MigrateOptions> {
  const { rows } = await client.query<{ name: string }>("select current_user::text as name");
  const other = (name: string | undefined): string | undefined =>
    name === rows[0]?.name ? undefined : name;
  return { role: other(role), workerRole: other(workerRole) };
}

/** The migrations that have not been run. Throws if one that was run differs from this release's. */
function pending(
  migrations: readonly Migration[],
  done: readonly { readonly number: number; readonly hash: string }[],
): readonly Migration[] {
  for (const [at, { number, hash }] of done.entries()) {
    const own = migrations[at];
    if (own === undefined) continue; // run by a later release, which keeps what this one needs
    if (own.number !== number || own.hash !== hash) {
      throw new MillraceError("broken_port", `migration ${number} is another one than ${own.name}`);
    }
  }
  return migrations.slice(done.length);
}

/** The SQL files stand beside the sources only, so the path leads there from the built code too. */
const folder = new URL("../../src/postgres/", import.meta.url);

async function readMigrations(): Promise<readonly Migration[]> {
  const names = await readdir(new URL("migrations/", folder));
  const files = names.filter((name) => /^\d{4}_.*\.sql$/.test(name)).toSorted();
  return Promise.all(
    files.map(async (name, at) => {
      const text = await readFile(new URL(`migrations/${name}`, folder), "utf8");
      const number = Number(name.slice(0, 4));
      if (number !== at + 1) throw new MillraceError("broken_port", `no migration ${at + 1}`);
      return { number, name, text, hash: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

/** Fills in the schema. The hash of a migration is that of its text as it is in its file. */
function inSchema(text: string, schema: string): string {
  return text.replaceAll(":schema", schema);
}

function prepareText(schema: string): string {
  checkName(schema, "schema");
  return `create schema if not exists ${schema};
set local search_path to ${schema}, pg_temp;
create table if not exists migration (
  number integer primary key,
  name text not null,
  hash text not null,
  at timestamptz not null default now()
);`;
}

async function grantsText(schema: string, { role, workerRole }: MigrateOptions): Promise<string> {
  const grant = async (file: string, to: string | undefined): Promise<string> => {
    if (to === undefined) return "";
    const text = await readFile(new URL(file, folder), "utf8");
    return inSchema(text, schema).replaceAll(":role", checkName(to, "role")).trim();
  };
  const grants = [
    grant("grants.sql", role),
    grant("grants.sql", workerRole),
    grant("worker-grants.sql", workerRole),
  ];
  return (await Promise.all(grants)).filter((text) => text !== "").join("\n");
}
