import { randomUUID } from "node:crypto";
import { inputId, itemId, sessionId } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillSession, prompt, contentOf } from "../testing/fixtures.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";

let database: Database;
let pool: Pool;

beforeAll(async () => {
  database = await openDatabase();
  pool = database.pool({ max: 3 }); // few, so that tenants take turns on the same connections
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** A query in which the WHERE was forgotten, as the application's role. */
async function forgetful(
  tenant: string | undefined,
  text: string,
): Promise<readonly { readonly tenant?: string }[] | string> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    if (tenant !== undefined) {
      await client.query("select set_config('millrace.tenant', $1, true)", [tenant]);
    }
    return (await client.query<{ tenant?: string }>(text)).rows;
  } catch (error) {
    return String((error as { readonly code?: unknown }).code);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

const tables = [
  "session",
  "fact",
  "item",
  "checkpoint",
  "driver",
  "engine_claim",
  "readable_fact",
  "run",
  "input",
  "usage",
];

describe("tenants", () => {
  it.each([
    ["as the database and the store see to it", false],
    ["as the store alone sees to it, where the database lets everything pass", true],
  ])("do not see each other's sessions, %s", async (_, superuser) => {
    const used = superuser ? database.adminPool : pool;
    const [mine, theirs] = ["mine", "theirs"].map((tenant) =>
      postgresStore({ pool: used, tenant: `${tenant} ${superuser}` }),
    );
    const name = sessionId("talk");
    const own = await mine!.create({ sessionId: name });
    const other = await theirs!.create({ sessionId: name });
    await fillSession(mine!, own.uid);
    const before = await contentOf(mine!, own.uid);

    expect(await theirs!.find(name)).toMatchObject({ uid: other.uid, head: 0 });
    expect((await theirs!.list()).map(({ uid }) => uid)).toEqual([other.uid]);
    const unknown = { code: "unknown_session" };
    await expect(theirs!.read(own.uid)).rejects.toMatchObject(unknown);
    await expect(theirs!.head(own.uid)).rejects.toMatchObject(unknown);
    await expect(theirs!.key(own.uid)).rejects.toMatchObject(unknown);
    await expect(theirs!.floors(own.uid)).rejects.toMatchObject(unknown);
    await expect(theirs!.claimedBy(own.uid, "engine_1")).rejects.toMatchObject(unknown);
    await expect(theirs!.hasInput(own.uid, inputId("input_1"))).rejects.toMatchObject(unknown);
    await expect(theirs!.claim(own.uid, { from: 1 })).rejects.toMatchObject(unknown);
    await expect(theirs!.accept(own.uid, "k", prompt("i"))).rejects.toMatchObject(unknown);
    const opening = { lane: 1, epoch: 2 ** 30 + 90_000, itemId: itemId("x") };
    await expect(theirs!.open(own.uid, opening)).rejects.toMatchObject(unknown);
    const fork = { sessionId: sessionId("fork"), n: 3 };
    await expect(theirs!.fork(own.uid, fork)).rejects.toMatchObject(unknown);
    await theirs!.remove(own.uid);

    expect(await contentOf(mine!, own.uid)).toEqual(before);
  });

  it("are kept apart by the database alone when a query forgets the WHERE", async () => {
    const [mine, theirs] = [`a${randomUUID()}`, `b${randomUUID()}`];
    for (const tenant of [mine, theirs]) {
      const store = postgresStore({ pool, tenant });
      const { uid } = await store.create({ sessionId: sessionId("talk") });
      await fillSession(store, uid);
      await store.keepCheckpoint!(uid, { head: 9, text: "text" });
      await store.drivers!.beat("driver");
      await store.claim(uid, { from: 1, by: "engine_1" });
    }

    for (const table of tables) {
      const rows = await forgetful(mine, `select * from millrace.${table}`);
      expect(
        typeof rows === "string" ? rows : [...new Set(rows.map(({ tenant }) => tenant))],
      ).toEqual([mine]);
      expect(await forgetful(undefined, `select * from millrace.${table}`)).toEqual([]);
    }
  });

  it("can't write for one another, not even by a statement that names the other", async () => {
    const store = postgresStore({ pool, tenant: "owner" });
    const { uid } = await store.create({ sessionId: sessionId("talk") });
    await fillSession(store, uid);
    const before = await contentOf(store, uid);
    const forged = `insert into millrace.fact (uid, n, tenant, type, body, hash)
      values ('${uid}', 10, 'owner', 'opaque', '{}', '')`;
    const claim = `insert into millrace.engine_claim (uid, run, incarnation, tenant)
      values ('${uid}', 'engine_1', 1, 'owner')`;

    expect(await forgetful("other", forged)).toBe("42501");
    expect(await forgetful("other", claim)).toBe("42501");
    expect(await forgetful("other", "update millrace.session set head = 0 returning uid")).toEqual(
      [],
    );
    expect(await forgetful("other", "delete from millrace.item returning uid")).toEqual([]);
    expect(await forgetful("other", "update millrace.session set tenant = 'other'")).toBe("42501");

    expect(await contentOf(store, uid)).toEqual(before);
  });

  it("can neither change nor delete a fact, but by removing its session", async () => {
    const store = postgresStore({ pool, tenant: "owner" });
    const { uid } = await store.create({ sessionId: sessionId("to be removed") });
    await fillSession(store, uid);
    const denied = "42501";

    expect(await forgetful("owner", "update millrace.fact set body = '{}'")).toBe(denied);
    expect(await forgetful("owner", "delete from millrace.fact")).toBe(denied);
    expect(await forgetful("owner", "truncate millrace.fact")).toBe(denied);
    expect(await forgetful("owner", "delete from millrace.session")).toBe(denied);
    for (let part = 0; part < 8; part += 1) {
      expect(await forgetful("owner", `select * from millrace.fact_${part}`)).toBe(denied);
    }
    await store.claim(uid, { from: 1, by: "engine_1" });
    expect(await forgetful("owner", "update millrace.engine_claim set run = ''")).toBe(denied);
    expect(await forgetful("owner", "delete from millrace.engine_claim")).toBe(denied);
    expect(await forgetful("owner", "select * from millrace.engine_claim")).toHaveLength(1);
    await store.remove(uid);

    expect(await forgetful("owner", "select * from millrace.engine_claim")).toEqual([]);
    expect(await rowsOf(uid)).toEqual({ facts: "0", items: "0", sessions: "0" });
  });

  it("are kept apart also where the application owns the tables", async () => {
    const role = `owner_${randomUUID().slice(0, 8)}`;
    const url = database.adminUrl.replace(/\/\/[^@]*@/, `//${role}:secret@`);
    await database.admin(`create role ${role} login password 'secret'`);
    await database.admin(`create schema owned authorization ${role}`);
    await using mine = postgresStore({ url, schema: "owned", tenant: "mine" });
    await using theirs = postgresStore({ url, schema: "owned", tenant: "theirs" });
    await database.admin(`grant create on database ${new URL(url).pathname.slice(1)} to ${role}`);
    await mine.migrate();
    const { uid } = await mine.create({ sessionId: sessionId("talk") });
    await fillSession(mine, uid);

    await expect(theirs.read(uid)).rejects.toMatchObject({ code: "unknown_session" });
    const owner = new Pool({ connectionString: url });
    const parts = Array.from({ length: 8 }, (_, at) => `fact_${at}`);
    for (const table of ["session", "fact", "item", "tombstone", ...parts]) {
      expect((await owner.query(`select * from owned.${table}`)).rows).toEqual([]);
    }
    await owner.end();
    expect(await database.admin("select count(*)::int as facts from owned.fact")).toEqual([
      { facts: 9 },
    ]);
  });

  it("are kept apart in every table of the schema, partitions included", async () => {
    const open = await database.admin(
      `select relname::text as name from pg_class
       where relnamespace = 'millrace'::regnamespace and relkind in ('r', 'p')
         and relname <> 'migration' and not (relrowsecurity and relforcerowsecurity)`,
    );

    expect(open).toEqual([]);
  });

  it("are kept apart also by statements that have lost their tenant", async () => {
    const forgetting = withoutTenants(pool);
    const [mine, theirs] = [`a${randomUUID()}`, `b${randomUUID()}`].map((tenant) =>
      postgresStore({ pool: forgetting, tenant }),
    );
    const own = await mine!.create({ sessionId: "talk" });
    await fillSession(mine!, own.uid);
    await mine!.keepCheckpoint!(own.uid, { head: 9, text: "text" });
    const before = await contentOf(mine!, own.uid);
    const unknown = { code: "unknown_session" };

    expect(await theirs!.find("talk")).toBe(undefined);
    expect(await theirs!.list()).toEqual([]);
    await expect(theirs!.read(own.uid)).rejects.toMatchObject(unknown);
    await expect(theirs!.key(own.uid)).rejects.toMatchObject(unknown);
    await expect(theirs!.claimedBy(own.uid, "engine_1")).rejects.toMatchObject(unknown);
    await expect(theirs!.hasInput(own.uid, inputId("input_1"))).rejects.toMatchObject(unknown);
    await expect(theirs!.claim(own.uid, { from: 1 })).rejects.toMatchObject(unknown);
    await expect(theirs!.accept(own.uid, "k", prompt("i"))).rejects.toMatchObject(unknown);
    await expect(theirs!.fork(own.uid, { sessionId: "f", n: 3 })).rejects.toMatchObject(unknown);
    await expect(theirs!.checkpoint!(own.uid)).rejects.toMatchObject(unknown);
    expect((await theirs!.heads!([own.uid])).size).toBe(0);
    expect(await theirs!.drivers!.due()).toEqual([]);
    expect(await theirs!.remove(own.uid)).toEqual([]);
    expect(await contentOf(mine!, own.uid)).toEqual(before);
    await mine!.remove(own.uid);
    expect(await theirs!.tombstone("talk")).toBe(undefined);
  });

  it("leave no setting behind on a connection", async () => {
    const store = postgresStore({ pool, tenant: "left behind" });
    await store.create({ sessionId: sessionId("talk") });

    const rows = await forgetful("x", "select 1");
    const clients = await Promise.all([0, 1, 2].map(() => pool.connect()));
    const found = await Promise.all(
      clients.map((client) => client.query("select current_setting('millrace.tenant', true) as t")),
    );
    for (const client of clients) client.release();

    expect(rows).toHaveLength(1);
    for (const { rows } of found) expect([null, ""]).toContain((rows[0] as { t: unknown }).t);
  });

  it("are kept apart where connections are one tenant's, also from those that share them", async () => {
    await using store = postgresStore({ url: database.url, tenant: "first" });
    const names = ["first", "second", "third"];
    const stores = names.map((tenant) => store.forTenant(tenant));
    const made = await Promise.all(
      stores.map((one) => one.create({ sessionId: sessionId("talk") })),
    );
    await Promise.all(stores.map((one, at) => fillSession(one, made[at]!.uid)));

    // Many at once, so that tenants take turns on the same connections.
    const rounds = Array.from({ length: 60 }, async (_, at) => {
      const [own, other] = [at % 3, (at + 1) % 3];
      const heads = await stores[own]!.heads!(made.map(({ uid }) => uid));
      expect([...heads.keys()]).toEqual([made[own]!.uid]);
      await expect(stores[own]!.read(made[other]!.uid)).rejects.toMatchObject({
        code: "unknown_session",
      });
      await stores[own]!.accept(made[own]!.uid, `key ${at}`, prompt(`input ${at}`));
    });
    await Promise.all(rounds);

    for (const [at, one] of stores.entries()) {
      expect(await one.head(made[at]!.uid)).toBe(29);
      expect((await one.list()).map(({ uid }) => uid)).toEqual([made[at]!.uid]);
    }
    expect(store.forTenant("second")).toBe(stores[1]);
    await stores[1]!.close();
    await expect(stores[1]!.list()).rejects.toMatchObject({ code: "closed" });
    expect(await store.forTenant("second").list()).toHaveLength(1);
  });

  it("need a name that the database can tell from every other", () => {
    const store = postgresStore({ pool });
    for (const tenant of ["", "a\0b", "t\ud800", "t\ud801", "\udc00t"]) {
      const refused: unknown = expect.objectContaining({
        code: "invalid_definition",
        message: expect.stringContaining("use an id of your own") as unknown,
      });
      expect(() => postgresStore({ pool, tenant })).toThrow(refused);
      expect(() => store.forTenant(tenant)).toThrow(refused);
    }
    expect(() => store.forTenant("t\ud83d\udc69")).not.toThrow();
  });
});

/** The same pool, whose statements filter by nothing but the ids that they name. */
function withoutTenants(inner: Pool): Pool {
  const strip = (text: string): string =>
    text.replaceAll(/\b((?:\w\.)?tenant) = (\$\d+)/g, "($2::text is not null)");
  return new Proxy(inner, {
    get: (target, key) => {
      if (key !== "connect") return Reflect.get(target, key) as unknown;
      return async () => {
        const client = await target.connect();
        return new Proxy(client, {
          get: (own, name) => {
            const value: unknown = Reflect.get(own, name);
            if (typeof value !== "function") return value;
            if (name !== "query") return value.bind(own) as unknown;
            return (given: string | { readonly text: string; readonly name?: string }) => {
              if (typeof given === "string") return own.query(strip(given));
              const { name: _, ...rest } = given; // prepared statements of this pool have their tenants
              return own.query({ ...rest, text: strip(given.text) });
            };
          },
        });
      };
    },
  });
}

async function rowsOf(uid: SessionUid): Promise<unknown> {
  const [counts] = await database.admin(
    `select (select count(*) from millrace.fact where uid = $1) as facts,
       (select count(*) from millrace.item where uid = $1) as items,
       (select count(*) from millrace.session where uid = $1) as sessions`,
    [uid],
  );
  return counts;
}
