import { randomUUID } from "node:crypto";
import { inputId, runId, sessionId } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prompt } from "../testing/fixtures.ts";
import { startPostgres } from "../../../../scripts/services/postgres.ts";
import { openDatabase, prepareDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";
import { statementsOf } from "./statements.ts";

let database: Database;
let pool: Pool;

beforeAll(async () => {
  database = await openDatabase();
  pool = database.pool();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** A store of a tenant of its own, so that no other test's sessions are due. */
function ownStore(): PostgresStore {
  return postgresStore({ pool, tenant: randomUUID() });
}

async function newSession(store: PostgresStore): Promise<SessionUid> {
  return (await store.create({ sessionId: sessionId(randomUUID()) })).uid;
}

const started: FactBody = { type: "run_started", runId: runId("run_1") };

describe("the index of sessions with work", () => {
  it("counts the work of a session of an earlier release when it is next written", async () => {
    const store = ownStore();
    const uid = await newSession(store);
    await store.accept(uid, "key_1", prompt("input_1"));
    await store.claim(uid, { from: 0 });
    await store.append(uid, { incarnation: 1, head: 2, bodies: [started] });
    await store.accept(uid, "key_2", prompt("input_2"));
    // As the migration leaves the row.
    const unknown = "run = null, queue = null, driver = null, due_since = null";
    await database.admin(`update millrace.session set ${unknown} where uid = $1`, [uid]);
    const later = postgresStore({ pool, tenant: await tenantOf(uid) });
    const before = await later.drivers!.due();

    await later.claim(uid, { from: 1, driver: "worker_1" });

    expect(before).toEqual([]);
    expect(await later.drivers!.due()).toMatchObject([{ uid, sign: { driver: "worker_1" } }]);
    expect(await workOf(uid)).toEqual({
      run: "run_1",
      queue: '[["input_1","prompt"],["input_2","prompt"]]',
    });
  });

  it("keeps ids and names of any text", async () => {
    const store = ownStore();
    const uid = await newSession(store);
    const odd = "a\0b ü 😀";
    await store.accept(uid, "key", { ...prompt("x"), inputId: inputId(odd) } as never);
    await store.claim(uid, { from: 0, driver: odd });
    await store.append(uid, {
      incarnation: 1,
      head: 2,
      bodies: [{ type: "run_started", runId: runId(odd) }],
    });
    await store.drivers!.beat(odd);

    expect(await store.drivers!.find(uid)).toEqual({ driver: odd, beat: 1 });
    // Another store reads the row from the database, and goes on from it.
    const other = postgresStore({ pool, tenant: await tenantOf(uid) });
    const withdrawn = {
      type: "queue_updated",
      change: "taken_back",
      inputId: inputId(odd),
    } as const;
    await other.accept(uid, "key_2", withdrawn);
    const ended = { runId: runId(odd), outcome: "completed", closes: 1 } as const;
    await other.append(uid, {
      incarnation: 1,
      head: 4,
      bodies: [{ type: "run_finished", ...ended }],
    });
    expect(await other.drivers!.due()).toEqual([]);
  });

  it("is one scan of an index, however many sessions have no work", async () => {
    const tenant = randomUUID();
    const store = postgresStore({ pool, tenant });
    await database.admin(
      `insert into millrace.session (uid, tenant, name, metadata, chain, queue)
       select 'idle_' || n, $1, int4send(n), '{}', '', '[]' from generate_series(1, 100000) n`,
      [tenant],
    );
    const uids: SessionUid[] = [];
    for (let at = 0; at < 10; at += 1) {
      const uid = await newSession(store);
      await store.accept(uid, "key", prompt("input"));
      await store.claim(uid, { from: 0, driver: `worker_${at % 2}` });
      uids.push(uid);
    }
    await store.drivers!.beat("worker_0");
    await database.admin("analyze millrace.session; analyze millrace.driver");

    const due = await store.drivers!.due({ except: "worker_1" });
    const { plan, buffers } = await explainDue(tenant);

    expect(due.map(({ uid }) => uid)).toEqual(uids.filter((_, at) => at % 2 === 0));
    expect(due[0]).toMatchObject({ sign: { driver: "worker_0", beat: 1 } });
    expect(plan).toMatch(/Index Scan using session_due on session/);
    expect(plan).not.toMatch(/Seq Scan on session|Sort/);
    console.log(`count: due reads ${buffers} pages of 100,010 sessions, 10 of them with work`);
    expect(buffers).toBeLessThan(60);
  });

  it("takes beats without waiting for the disk", async () => {
    // A server of its own: syncs are counted for a whole server.
    await using server = await startPostgres();
    await using alone = await prepareDatabase(server, "postgres");
    const { drivers } = postgresStore({ pool: alone.pool() });
    await drivers!.beat("worker_1");
    const before = await syncsOf(alone);
    const started = performance.now();

    for (let at = 0; at < 200; at += 1) await drivers!.beat("worker_1");

    const walWriter = Math.ceil((performance.now() - started) / 200) + 1; // it syncs every 200 ms
    expect((await syncsOf(alone)) - before).toBeLessThanOrEqual(walWriter);
    const beats = await alone.admin("select beat::int from millrace.driver");
    expect(beats).toEqual([{ beat: 201 }]);
  });

  it("forgets drivers that were killed a day ago", async () => {
    const tenant = randomUUID();
    const store = postgresStore({ pool, tenant });
    for (const name of ["killed", "lives", "leaves"]) await store.drivers!.beat(name);
    await database.admin(
      "update millrace.driver set at = at - interval '25 hours' where tenant = $1 and name = 'killed'",
      [tenant],
    );

    await store.drivers!.leave("leaves");

    const text = "select convert_from(name, 'UTF8') as name from millrace.driver where tenant = $1";
    expect(await database.admin(text, [tenant])).toEqual([{ name: "lives" }]);
  });
});

async function tenantOf(uid: SessionUid): Promise<string> {
  const [row] = await database.admin("select tenant from millrace.session where uid = $1", [uid]);
  return String(row?.["tenant"]);
}

async function workOf(uid: SessionUid): Promise<unknown> {
  const text =
    "select convert_from(run, 'UTF8') as run, queue from millrace.session where uid = $1";
  return (await database.admin(text, [uid]))[0];
}

/** How often the server has waited for its log to be on the disk. */
async function syncsOf({ admin }: Database): Promise<number> {
  await admin("select pg_stat_force_next_flush()");
  const [row] = await admin("select wal_sync::int as n from pg_stat_wal");
  return Number(row?.["n"]);
}

/** The plan of the statement as the application's role runs it, and the pages that it touched. */
async function explainDue(
  tenant: string,
): Promise<{ readonly plan: string; readonly buffers: number }> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select set_config('millrace.tenant', $1, true)", [tenant]);
    const explain = `explain (analyze, buffers) ${statementsOf("millrace").due.text}`;
    const { rows } = await client.query<Record<string, string>>(explain, [tenant, null, 100]);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    const touched = /shared hit=(\d+)(?: read=(\d+))?/.exec(plan);
    return { plan, buffers: Number(touched?.[1]) + Number(touched?.[2] ?? 0) };
  } finally {
    await client.query("rollback");
    client.release();
  }
}
