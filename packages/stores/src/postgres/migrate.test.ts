import { sessionId, sessionUid } from "@millrace/core/writing";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../../scripts/services/shared.ts";
import type { PostgresSpace } from "../../../../scripts/services/shared.ts";
import { encodeFact } from "../fact-text.ts";
import { prompt } from "../testing/fixtures.ts";
import { openPool } from "../testing/postgres.ts";
import { printSql } from "./migrate.ts";
import { postgresStore } from "./postgres-store.ts";
import { encodeName } from "./row.ts";

let space: PostgresSpace;
let pool: Pool;

beforeAll(async () => {
  space = await sharedPostgres();
  pool = openPool(space.url);
});

afterAll(async () => {
  await pool.end();
  await space[Symbol.asyncDispose]();
});

async function tablesOf(schema: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "select table_name::text as name from information_schema.tables where table_schema = $1 order by 1",
    [schema],
  );
  return rows.map(({ name }) => name);
}

/** Functions, policies, columns and indexes of a schema, without its name. */
async function describeSchema(schema: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ text: string }>(
    `select pg_get_functiondef(p.oid) || coalesce(p.proacl::text, '') as text from pg_proc p
       where p.pronamespace = $1::text::regnamespace
     union all select concat_ws(' ', tablename, policyname, permissive, roles, cmd, qual, with_check)
       from pg_policies where schemaname = $1
     union all select concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
       from information_schema.columns where table_schema = $1
     union all select indexdef from pg_indexes where schemaname = $1
     union all select concat_ws(' ', relname, relkind, relrowsecurity, relforcerowsecurity)
       from pg_class where relnamespace = $1::text::regnamespace
     order by 1`,
    [schema],
  );
  return rows.map(({ text }) => text.replaceAll(new RegExp(`\\b${schema}\\b`, "g"), "schema"));
}

describe("migrate", () => {
  it("makes the tables once, however often it runs", async () => {
    const store = postgresStore({ pool, schema: "twice" });

    await store.migrate();
    const { uid } = await store.create({ sessionId: sessionId("a") });
    await store.accept(uid, "key", prompt("input"));
    await store.migrate();

    expect(await store.head(uid)).toBe(1);
    expect(await tablesOf("twice")).toContain("fact_7");
    const { rows } = await pool.query("select number from twice.migration order by number");
    expect(rows).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((number) => ({ number })));
  });

  it("gives each session that was made before there were keys one of its own", async () => {
    const store = postgresStore({ pool, schema: "keyless" });
    const earlier = (await printSql({ schema: "keyless" })).split("-- 0003")[0];
    await pool.query(`${earlier} commit; reset search_path`);
    const names = ["a", "b", "c"].map(sessionId);
    for (const name of names) {
      await pool.query(
        "insert into keyless.session (uid, tenant, name, metadata, chain) values ($1, 'default', $2, '{}', '')",
        [name, encodeName(name)],
      );
    }

    await store.migrate();

    const made = await store.list();
    const keys = await Promise.all(made.map(({ uid }) => store.key(uid)));
    expect(new Set(keys).size).toBe(3);
    expect(await Promise.all(made.map(({ uid }) => store.key(uid)))).toEqual(keys);
  });

  it("gives sessions that were made before there were records the times of their facts", async () => {
    const schema = "timeless";
    const store = postgresStore({ pool, schema });
    const earlier = (await printSql({ schema })).split("-- 0008")[0];
    await pool.query(`${earlier} commit; reset search_path`);
    const insert = async (uid: string, name: string, times: readonly number[]): Promise<void> => {
      await pool.query(
        `insert into ${schema}.session (uid, tenant, name, metadata, chain, head, queue, due_since)
         values ($1, 'default', $2, '{}', '', $3, '[["input","prompt"]]', now())`,
        [uid, encodeName(name), times.length],
      );
      for (const [at, time] of times.entries()) {
        const envelope = { v: 1, n: at + 1, sessionId: sessionId(name), time } as const;
        await pool.query(
          `insert into ${schema}.fact (uid, n, tenant, type, body, hash)
           values ($1, $2, 'default', 'input_accepted', $3, '')`,
          [uid, at + 1, encodeFact({ ...prompt(at === 0 ? "input" : `input_${at}`), ...envelope })],
        );
      }
    };
    const before = Date.now();
    await insert("old", "old talk", [1_000, 2_000, 3_000]);
    await insert("empty", "empty talk", []);
    await insert("child", "sub_old_item_1", [4_000]);

    await store.migrate();

    const old = await store.find("old talk");
    expect(old).toMatchObject({
      createdAt: 1_000,
      updatedAt: 3_000,
      revision: 1,
      status: "running",
    });
    const empty = await store.find("empty talk");
    expect(empty?.createdAt).toBeGreaterThanOrEqual(before - 2_000);
    const { records } = await store.page();
    expect(records.map(({ uid }) => uid)).toEqual(["empty", "old"]); // and no sub-agent's
    expect(await store.find("sub_old_item_1")).not.toHaveProperty("parent");
    expect((await store.update(sessionUid("old"), { title: "new" })).record.title).toBe("new");
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])(
    "brings a schema that has %i migrations to what a new one is, with its sessions",
    async (count) => {
      const schema = `from_${count}`;
      const all = await printSql({ schema });
      // As earlier releases ran them: with temporary objects searched first.
      const earlier = all
        .split(`-- ${String(count + 1).padStart(4, "0")}_`)[0]
        ?.replaceAll(`path to ${schema}, pg_temp;`, `path to ${schema};`);
      await pool.query(`${earlier} commit; reset search_path`);
      await pool.query(
        `insert into ${schema}.session (uid, tenant, name, metadata, chain, head)
         values ('old', 'default', $1, '{}', '', 0)`,
        [encodeName("old talk")],
      );
      const store = postgresStore({ pool, schema });
      await postgresStore({ pool, schema: "anew" }).migrate();

      await store.migrate();

      expect(await describeSchema(schema)).toEqual(await describeSchema("anew"));
      const found = await store.find("old talk");
      expect(found).toMatchObject({ uid: "old", head: 0 });
      await store.accept(sessionUid("old"), "key", prompt("input"));
      expect(await store.remove(sessionUid("old"), { actor: { user: "Ann" } })).toMatchObject([
        { uid: "old", root: "old", actor: { user: "Ann" } },
      ]);
      expect(await store.find("old talk")).toBe(undefined);
    },
  );

  it("may be run by many at once", async () => {
    const stores = Array.from({ length: 8 }, () => postgresStore({ pool, schema: "at_once" }));

    await Promise.all(stores.map((store) => store.migrate()));

    const { rows } = await pool.query("select number from at_once.migration order by number");
    expect(rows).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((number) => ({ number })));
  });

  it("refuses a schema that was made by other migrations, and changes nothing", async () => {
    const store = postgresStore({ pool, schema: "other" });
    await store.migrate();
    await pool.query("update other.migration set hash = 'else' where number = 2");

    await expect(store.migrate()).rejects.toMatchObject({ code: "broken_port" });
  });

  it("leaves nothing behind when it fails half way", async () => {
    await pool.query("create schema half; create table half.usage (a int)"); // in the second one's way

    await expect(postgresStore({ pool, schema: "half" }).migrate()).rejects.toThrow(/usage/);

    expect(await tablesOf("half")).toEqual(["usage"]);
  });

  it("leaves a schema of a later release as it is", async () => {
    const store = postgresStore({ pool, schema: "later" });
    await store.migrate();
    await pool.query("insert into later.migration (number, name, hash) values (12, 'x', 'y')");

    await store.migrate();

    const { rows } = await pool.query("select count(*)::int as count from later.migration");
    expect(rows).toEqual([{ count: 12 }]);
  });

  it("prints the SQL that makes the same tables and is known to a later migrate", async () => {
    const client = await pool.connect();
    await client.query(await printSql({ schema: "printed" }));
    await client.query("reset search_path");
    client.release();
    await postgresStore({ pool, schema: "made" }).migrate();

    expect(await tablesOf("printed")).toEqual(await tablesOf("made"));
    await postgresStore({ pool, schema: "printed" }).migrate();
  });

  it("takes no name of a schema or role that would have to be quoted", async () => {
    for (const schema of ["", "Upper", "a b", "a;b", 'a"b', "1a", "a".repeat(64)]) {
      expect(() => postgresStore({ pool, schema })).toThrow(/can't be the name of a schema/);
    }
    await expect(printSql({ role: "a; drop table session" })).rejects.toThrow(/of a role/);
  });
});
