import { randomUUID } from "node:crypto";
import { sessionId } from "@millrace/core/writing";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prompt } from "../testing/fixtures.ts";
import { openDatabase, openPool } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** Roles over a schema: its owner, an application, and a worker. */
interface Roles {
  readonly owner: Pool;
  readonly app: Pool;
  readonly worker: Pool;
}

/** Makes the schema, owned by a superuser or by a role for which row-level security holds. */
async function openRoles(schema: string, superuser: boolean): Promise<Roles & AsyncDisposable> {
  const pools: Pool[] = [];
  const open = async (kind: string): Promise<readonly [string, Pool]> => {
    const role = `${kind}_${randomUUID().slice(0, 8)}`;
    await database.admin(`create role ${role} login password 'secret'`);
    const pool = openPool(database.adminUrl.replace(/\/\/[^@]*@/, `//${role}:secret@`));
    pools.push(pool);
    return [role, pool];
  };
  const [ownerRole, plainOwner] = await open("owner");
  const [appRole, app] = await open("app");
  const [workerRole, worker] = await open("worker");
  await database.admin(`create schema ${schema} authorization ${ownerRole}`);
  const name = new URL(database.adminUrl).pathname.slice(1);
  await database.admin(`grant create on database ${name} to ${ownerRole}`);
  const owner = superuser ? database.adminPool : plainOwner;
  await postgresStore({ pool: owner, schema }).migrate({ role: appRole, workerRole });
  return {
    owner,
    app,
    worker,
    [Symbol.asyncDispose]: async () => void (await Promise.all(pools.map((pool) => pool.end()))),
  };
}

const secret = "a secret of the session";

describe.each([
  ["a superuser owns the tables", "by_superuser", true],
  ["a plain role owns the tables", "by_owner", false],
])("across tenants, where %s", (_, schema, superuser) => {
  it("a worker finds the sessions with work of all tenants, and opens each for its tenant", async () => {
    await using roles = await openRoles(`${schema}_1`, superuser);
    const options = { schema: `${schema}_1` };
    const app = postgresStore({ ...options, pool: roles.app, tenant: "a" });
    const worker = postgresStore({ ...options, pool: roles.worker, acrossTenants: true });
    const [one, other] = [app, app.forTenant("b")];
    expect([one, other, worker].map(({ ownTenant }) => ownTenant)).toEqual(["a", "b", undefined]);
    const made = [
      await one.create({ sessionId: sessionId("talk") }),
      await other.create({ sessionId: sessionId("talk") }),
    ];
    await one.accept(made[0]!.uid, "key", prompt("input", secret));
    await other.accept(made[1]!.uid, "key", prompt("input", secret));
    await other.drivers!.beat("app_1");
    await other.claim(made[1]!.uid, { from: 0, driver: "app_1" });

    const due = await worker.drivers!.due();
    const heads = await worker.heads!(made.map(({ uid }) => uid));
    const mine = worker.forTenant(due[0]!.tenant!);
    await mine.claim(due[0]!.uid, { from: 0, driver: "worker_1" });
    await mine.drivers!.beat("worker_1");
    await worker.drivers!.beat("worker_1");

    expect(due).toMatchObject([
      { uid: made[0]!.uid, sessionId: "talk", tenant: "a", head: 1, incarnation: 0 },
      { uid: made[1]!.uid, tenant: "b", head: 2, sign: { driver: "app_1", beat: 1 } },
    ]);
    expect([...heads.values()]).toEqual([1, 2]);
    // The application sees the worker's beat, which is for all tenants; two were sent.
    expect(await one.drivers!.find(made[0]!.uid)).toEqual({ driver: "worker_1", beat: 2 });
    expect(await worker.drivers!.due({ except: "worker_1" })).toMatchObject([{ tenant: "b" }]);
    await other.claim(made[1]!.uid, { from: 1, driver: "app_1", by: "engine_1" });
    const [, driven] = await worker.drivers!.due();
    expect(driven?.sign).toEqual({ driver: "app_1", beat: 1, by: "engine_1" });
    await worker.drivers!.leave("worker_1");
    expect(await one.drivers!.find(made[0]!.uid)).toEqual({ driver: "worker_1" });
  });

  it("a role without the grant gets nothing, and with it nothing of the content", async () => {
    await using roles = await openRoles(`${schema}_2`, superuser);
    const name = `${schema}_2`;
    const store = postgresStore({ pool: roles.app, schema: name, tenant: "a" });
    const { uid } = await store.create({ sessionId: sessionId("talk"), metadata: { secret } });
    await store.accept(uid, "key", prompt("input", secret));
    await store.keepCheckpoint!(uid, { head: 1, text: secret });
    const attacks = [
      `select * from ${name}.due_with_engines(null, 100)`,
      `select * from ${name}.due_sessions(null, 100)`,
      `select * from ${name}.session_heads(array['${uid}'])`,
      `select ${name}.beat_driver('forged')`,
      `select ${name}.leave_driver('forged')`,
    ];
    await store.claim(uid, { from: 0, by: "engine_1" });
    const tables = [
      "session",
      "fact",
      "item",
      "checkpoint",
      "engine_claim",
      "readable_fact",
      "input",
    ];
    const tricks = [
      "select 1",
      `set search_path to ${name}, millrace_across`,
      "select set_config('millrace.tenant', '', false)",
    ];

    for (const attack of attacks) expect(await tryAs(roles.app, attack)).toBe("42501");
    for (const role of [roles.app, roles.worker]) {
      for (const trick of tricks) {
        for (const table of tables) {
          expect(await tryAs(role, `select * from ${name}.${table}`, trick)).toEqual([]);
        }
      }
      const forged = `insert into ${name}.driver (tenant, name, beat) values ('', 'forged', 1)`;
      for (const trick of tricks) expect(await tryAs(role, forged, trick)).toBe("42501");
    }
    // A WHERE that was forgotten by the owner itself, and after the functions were used.
    const used = `select * from ${name}.due_sessions(null, 100)`;
    if (!superuser) {
      expect(await tryAs(roles.owner, `select * from ${name}.session`, used)).toEqual([]);
    }
    const seen = await Promise.all(attacks.map((attack) => tryAs(roles.worker, attack)));
    expect(seen[0]).toMatchObject([{ uid, tenant: "a", head: "2" }]);
    expect(Object.keys((seen[0] as object[])[0]!)).toEqual([
      "uid",
      "tenant",
      "name",
      "head",
      "incarnation",
      "run",
      "driver",
      "beat",
      "engine",
    ]);
    expect(JSON.stringify(seen)).not.toContain(secret);
  });
});

/** The rows of a query after another one on the same connection, or the code of its error. */
async function tryAs(pool: Pool, text: string, first = "select 1"): Promise<unknown> {
  const client = await pool.connect();
  try {
    await client.query(first);
    return (await client.query(text)).rows;
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  } finally {
    client.release(true);
  }
}
