import { randomUUID } from "node:crypto";
import { sessionId } from "@millrace/core/writing";
import { systemClock } from "@millrace/core/memory";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPgBouncer } from "../../../../scripts/services/pgbouncer.ts";
import type { Server } from "../../../../scripts/services/server.ts";
import { contentOf, fillSession, prompt } from "../testing/fixtures.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { Connection } from "./connection.ts";
import { postgresStore } from "./postgres-store.ts";
import { StoreClock } from "./store-clock.ts";

let database: Database;
let pooler: Server;

beforeAll(async () => {
  database = await openDatabase();
  pooler = await startPgBouncer({ url: database.url });
});

afterAll(async () => {
  await pooler.close();
  await database[Symbol.asyncDispose]();
});

/** A connection of a tenant's own pool, for statements that no store would send. */
function ownConnection(url: string, tenant: string): Connection & AsyncDisposable {
  const pool = new Pool({ connectionString: url, pipeline: true });
  const storeClock = new StoreClock(systemClock);
  const shared = { pool, ownTenant: tenant, clock: systemClock, storeClock };
  return Object.assign(new Connection(shared, tenant), {
    [Symbol.asyncDispose]: () => pool.end(),
  });
}

describe("behind a pooler that pools by transaction", () => {
  it("stores of several tenants keep apart, and each finds what it stored", async () => {
    await using first = postgresStore({ url: pooler.url, tenant: "first" });
    await using second = postgresStore({ url: pooler.url, tenant: "second" });
    const stores = [first, second, first.forTenant("third")];
    const made = await Promise.all(
      stores.map((store) => store.create({ sessionId: sessionId("talk") })),
    );
    await Promise.all(stores.map((store, at) => fillSession(store, made[at]!.uid)));

    await Promise.all(
      Array.from({ length: 90 }, async (_, at) => {
        const [store, { uid }] = [stores[at % 3]!, made[at % 3]!];
        expect(await store.accept(uid, `key ${at}`, prompt(`input ${at}`))).toMatchObject({
          outcome: "accepted",
        });
        expect([...(await store.heads!(made.map((one) => one.uid))).keys()]).toEqual([uid]);
        expect((await store.list()).map((one) => one.uid)).toEqual([uid]);
      }),
    );

    for (const [at, store] of stores.entries()) {
      expect((await contentOf(store, made[at]!.uid)).facts).toHaveLength(39);
      expect(await store.verify("talk")).toMatchObject({ ok: true, facts: 39 });
    }
  });

  it("a store leaves no setting on the server's connections, which others get", async () => {
    await using store = postgresStore({ url: pooler.url, tenant: "left behind" });
    await store.create({ sessionId: sessionId(randomUUID()) });

    const others = new Pool({ connectionString: pooler.url, max: 2 });
    const tenants = await Promise.all(
      Array.from({ length: 20 }, () =>
        others.query<{ t: string }>("select current_setting('millrace.tenant', true) as t"),
      ),
    );
    await others.end();

    for (const { rows } of tenants) expect([null, ""]).toContain(rows[0]?.t);
  });
});

describe("a pool of one tenant's own", () => {
  it.each(["direct", "pooled"] as const)(
    "shows a query without a WHERE the rows of that tenant alone, %s",
    async (way) => {
      const url = way === "direct" ? database.url : pooler.url;
      const [mine, theirs] = [randomUUID(), randomUUID()];
      for (const tenant of [mine, theirs]) {
        const store = postgresStore({ pool: database.pool(), tenant });
        await fillSession(store, (await store.create({ sessionId: sessionId("talk") })).uid);
      }
      await using own = ownConnection(url, mine);

      for (const table of ["session", "fact", "item"]) {
        const text = `select tenant from millrace.${table}`;
        const [rows = []] = await own.retrying(() => own.once({ statement: { text }, values: [] }));
        expect([...new Set(rows.map(({ tenant }) => tenant))]).toEqual([mine]);
      }
      const text = `insert into millrace.item (uid, item_id, n, tenant) values ('u', 'i', 1, '${theirs}')`;
      await expect(
        own.retrying(() => own.once({ statement: { text }, values: [] })),
      ).rejects.toMatchObject({
        code: "42501",
      });
    },
  );
});
