import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { fillSession } from "../testing/fixtures.ts";
import { hostileObjects, prepareAttack } from "../testing/hostile-objects.ts";
import { openDatabase, openPool } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";

vi.setConfig({ testTimeout: 3 * patience, hookTimeout: patience });

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
  // As in databases from before PostgreSQL 15.
  await database.admin("grant create on schema public to public");
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

interface Target extends AsyncDisposable {
  readonly schema: string;
  readonly owner: string;
  /** Of a role that may call all functions. */
  readonly attacker: Pool;
  readonly role: string;
}

async function openTarget(schema: string, superuser: boolean): Promise<Target> {
  const [owner, role] = ["owner", "worker"].map((kind) => `${kind}_${randomUUID().slice(0, 8)}`);
  const urlOf = (name: string): string =>
    database.adminUrl.replace(/\/\/[^@]*@/, `//${name}:secret@`);
  await database.admin(
    `create role ${owner} login password 'secret' ${superuser ? "superuser" : ""}`,
  );
  await database.admin(`create role ${role} login password 'secret'`);
  await database.admin(`create schema ${schema} authorization ${owner}`);
  const name = new URL(database.adminUrl).pathname.slice(1);
  await database.admin(`grant create on database ${name} to ${owner}`);
  const owners = openPool(urlOf(owner as string));
  await postgresStore({ pool: owners, schema }).migrate({ workerRole: role });
  for (const tenant of ["mine", "theirs"]) {
    const store = postgresStore({ pool: owners, schema, tenant });
    await fillSession(store, (await store.create({ sessionId: "talk" })).uid);
  }
  const attacker = new Pool({ connectionString: urlOf(role as string), max: 1 });
  return {
    schema,
    owner: owner as string,
    role: role as string,
    attacker,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([owners.end(), attacker.end()]);
    },
  };
}

/** Runs a statement that may fail, without ending the transaction. */
async function attempt(client: PoolClient, text: string): Promise<readonly object[] | undefined> {
  await client.query("savepoint here");
  try {
    const { rows } = await client.query<object>(text);
    return rows;
  } catch {
    await client.query("rollback to savepoint here");
    return undefined;
  }
}

/** Calls every function of the schema, with a session and a driver that are not there. */
async function callFunctions(client: PoolClient, schema: string): Promise<number> {
  const { rows } = await client.query<{ name: string; types: readonly string[] }>(
    `select p.proname::text as name, array(
        select pg_catalog.format_type(t, null)
        from pg_catalog.unnest(p.proargtypes::pg_catalog.oid[]) as t) as types
     from pg_catalog.pg_proc p where p.pronamespace = $1::pg_catalog.regnamespace`,
    [schema],
  );
  for (const { name, types } of rows) {
    const values = types.map((type) => {
      if (type === "text[]") return "array['x']::pg_catalog.text[]";
      return type === "bigint" ? "1::pg_catalog.int8" : `'x'::pg_catalog.${type}`;
    });
    await attempt(client, `select ${schema}.${name}(${values.join(", ")})`);
  }
  return rows.length;
}

describe.each([
  ["a plain role owns the tables", "plain", false],
  ["a superuser owns the tables", "super", true],
])("where %s, a role that may call every function", (_, schema, superuser) => {
  it(`runs nothing as the owner by ${hostileObjects.length} hostile objects`, async () => {
    await using target = await openTarget(schema, superuser);
    const { owner, role, attacker } = target;
    const ran: string[] = [];
    let [made, called] = [0, 0];
    const client = await attacker.connect();
    for (const { name, make } of hostileObjects) {
      await client.query(`begin; ${prepareAttack.join(";")}`);
      const done: boolean[] = [];
      for (const text of make) {
        const filled = text.replaceAll(":schema", schema).replaceAll(":owner", owner);
        done.push((await attempt(client, filled)) !== undefined);
      }
      if (done.every(Boolean)) made += 1;
      await attempt(client, "select pg_catalog.set_config('millrace.tenant', 'mine', true)");
      called += await callFunctions(client, schema);
      const { rows } = await client.query<{ who: string }>("select who from pg_temp.loot");
      if (rows.some(({ who }) => who !== role)) ran.push(name);
      const seen = await attempt(client, `select tenant from ${schema}.fact`);
      if (JSON.stringify(seen ?? []).includes("theirs"))
        ran.push(`${name}: another tenant's facts`);
      await client.query("rollback"); // all that was made is gone, and so are settings
    }
    client.release(true);
    const roles = "select rolsuper from pg_roles where rolname = $1";

    expect(ran).toEqual([]);
    expect(made).toBeGreaterThanOrEqual(31); // the others are refused as they are made
    expect(await database.admin(roles, [role])).toEqual([{ rolsuper: false }]);
    console.log(
      `count: hostile objects, ${hostileObjects.length} tried, ${made} made, ${called} calls, 0 ran as the owner`,
    );
  });
});

describe("every function that runs as its owner", () => {
  it("searches its schema and then temporary objects, and no role but those named may call it", async () => {
    await using target = await openTarget("settings", false);
    const rows = await database.admin(
      `select p.proname::text as name, p.proconfig::text as config,
         has_function_privilege('public', p.oid, 'execute') as open
       from pg_proc p where p.pronamespace = 'settings'::regnamespace and p.prosecdef`,
    );

    expect(rows.length).toBeGreaterThanOrEqual(5);
    for (const { name, config, open } of rows) {
      expect([name, config]).toEqual([
        name,
        expect.stringMatching(/search_path=settings, pg_temp/),
      ]);
      expect([name, open]).toEqual([name, false]);
    }
    const [rights] = await database.admin(
      `select has_schema_privilege('${target.role}', 'settings', 'create') as makes,
         has_schema_privilege('public', 'settings', 'usage') as open`,
    );
    expect(rights).toEqual({ makes: false, open: false });
  });
});

describe("a migration", () => {
  it("calls no function that another role has put into public", async () => {
    const role = `other_${randomUUID().slice(0, 8)}`;
    await database.admin(`create role ${role} login password 'secret'`);
    const other = openPool(database.adminUrl.replace(/\/\/[^@]*@/, `//${role}:secret@`));
    await other.query("create table public.loot (who text); grant all on public.loot to public");
    await other.query(
      `create function public.hashtextextended(text, integer) returns bigint language plpgsql as
         $$ begin insert into public.loot values (current_user); return 1; end $$`,
    );

    await postgresStore({ pool: database.adminPool, schema: "beside" }).migrate();

    expect(await database.admin("select who from public.loot")).toEqual([]);
    await other.query("drop function public.hashtextextended; drop table public.loot");
    await other.end();
  });
});
