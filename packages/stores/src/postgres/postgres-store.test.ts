import { randomUUID } from "node:crypto";
import { packEpoch } from "@millrace/core/ports";
import { itemId, runId, sessionId } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import type { Pool, PoolClient } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fillSession, item, prompt, contentOf } from "../testing/fixtures.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";

let database: Database;
let pool: Pool;
let store: PostgresStore;

beforeAll(async () => {
  database = await openDatabase();
  pool = database.pool();
  store = postgresStore({ pool });
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

async function newSession(): Promise<SessionUid> {
  return (await store.create({ sessionId: sessionId(randomUUID()) })).uid;
}

describe("postgresStore", () => {
  it("lists names in the order of their UTF-16 units, in pages", async () => {
    const own = postgresStore({ pool, tenant: "lists" });
    // By code points "\uffee" would be before "😀", and by most collations "ä" before "b".
    const names = ["a", "A", "ä", "b", "\uffee", "😀", "a b", "ab", "\0", "a\0", "z".repeat(256)];
    for (const name of names) await own.create({ sessionId: sessionId(name) });
    const sorted = names.toSorted();

    const pages: string[] = [];
    for (let page = await own.list({ limit: 3 }); page.length > 0;) {
      pages.push(...page.map((record) => record.sessionId));
      page = await own.list({ after: page.at(-1)!.sessionId, limit: 3 });
    }

    expect(pages).toEqual(sorted);
    expect((await own.list()).map((record) => record.sessionId)).toEqual(sorted);
  });

  it("sends one transaction for a call of a session that it wrote last, and one look before others", async () => {
    const watched = database.pool({ max: 1 });
    const sent: string[] = [];
    watched.on("connect", (client: PoolClient) => watchQueries(client, sent));
    const one = postgresStore({ pool: watched });
    const { uid } = await one.create({ sessionId: sessionId(randomUUID()) });
    await one.claim(uid, { from: 0 });
    sent.length = 0;

    await one.append(uid, { incarnation: 1, head: 1, bodies: [started] });
    const remembered = sent.splice(0);
    await store.accept(uid, "key", prompt("input")); // another store writes
    await one.append(uid, { incarnation: 1, head: 3, bodies: [started] });

    expect(remembered).toEqual(["begin", "with", "commit"]);
    // The row in memory has head 2, so the store has to read the row before it decides at 3.
    expect(sent).toEqual(["begin", "select", "with", "commit"]);
  });

  it("does not take a row that it remembers for another one of the same version", async () => {
    const uid = await newSession();
    const [one, other] = [postgresStore({ pool }), postgresStore({ pool })];
    await one.accept(uid, "key_1", prompt("input_1"));
    const [saved] = await database.admin(
      "select head, chain, version from millrace.session where uid = $1",
      [uid],
    );
    await one.accept(uid, "key_2", prompt("input_2"));
    // The database is set back to before the second input, as by a restore, and another one is written.
    await database.admin("delete from millrace.fact where uid = $1 and n = 2", [uid]);
    await database.admin(
      "update millrace.session set head = $2, chain = $3, version = $4 where uid = $1",
      [uid, saved?.["head"], saved?.["chain"], saved?.["version"]],
    );
    await other.accept(uid, "key_3", prompt("input_3"));

    const answer = await one.accept(uid, "key_4", prompt("input_4"));

    expect(answer).toMatchObject({ outcome: "accepted", facts: [{ n: 3 }] });
    const { sessionId: name } = (await one.read(uid))[0]!;
    expect(await one.verify(name)).toMatchObject({ ok: true, facts: 3 });
  });

  it("forks a session of many facts whole", async () => {
    const uid = await newSession();
    await store.claim(uid, { from: 0 });
    const bodies = Array.from({ length: 1_000 }, (_, at): FactBody => ({
      type: "item_committed",
      item: item(`item_${at}`),
    }));
    await store.append(uid, { incarnation: 1, head: 1, bodies });
    const name = sessionId(randomUUID());

    const fork = await store.fork(uid, { sessionId: name, n: 900 });

    const facts = await store.read(uid, { limit: 900 });
    expect(await store.read(fork.uid)).toEqual(facts.map((fact) => ({ ...fact, sessionId: name })));
    expect(await store.verify(name)).toMatchObject({ ok: true, facts: 900 });
    const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
    const opening = { lane: 0, epoch, itemId: itemId("item_898") };
    expect(await store.open(fork.uid, opening)).toMatchObject({ outcome: "exists" });
    expect(await store.open(fork.uid, { ...opening, itemId: itemId("item_899") })).toMatchObject({
      outcome: "opened",
    });
  });

  it("refuses what could not be read again, and stores nothing of it", async () => {
    const uid = await newSession();
    await store.claim(uid, { from: 0 });
    const odd = { type: "turn_finished", runId: runId("r"), closes: -1 } as unknown as FactBody;
    const invalid = { code: "invalid_event" };

    const request = { incarnation: 1, head: 1, bodies: [started, odd] };
    await expect(store.append(uid, request)).rejects.toMatchObject(invalid);
    const opening = { lane: 0.5, epoch: 1, itemId: itemId("a") };
    await expect(store.open(uid, opening)).rejects.toMatchObject(invalid);
    const metadata = { a: undefined } as never;
    await expect(store.create({ sessionId: sessionId("odd"), metadata })).rejects.toMatchObject(
      invalid,
    );

    expect(await store.head(uid)).toBe(1);
  });

  it("needs neither the isolation nor the haste that a database has by default", async () => {
    await database.admin(
      `alter role ${database.role} set default_transaction_isolation to 'serializable'`,
    );
    await database.admin(`alter role ${database.role} set synchronous_commit to off`);
    const own = database.pool();
    try {
      const client = await own.connect();
      const { rows } = await client.query("show default_transaction_isolation");
      client.release();
      expect(rows).toEqual([{ default_transaction_isolation: "serializable" }]);
      const seen: string[] = [];
      own.on("connect", (client: PoolClient) => watchSettings(client, seen));
      const [one, other] = [postgresStore({ pool: own }), postgresStore({ pool: own })];
      const uid = await newSession();

      const speak = (by: PostgresStore, name: string): Promise<unknown>[] =>
        Array.from({ length: 15 }, (_, at) =>
          by.accept(uid, `${name}${at}`, prompt(`${name}${at}`)),
        );
      await Promise.all([...speak(one, "a"), ...speak(other, "b")]);

      expect(await store.head(uid)).toBe(30);
      expect(new Set(seen)).toEqual(new Set(["read committed, on"]));
    } finally {
      await database.admin(`alter role ${database.role} reset all`);
    }
  });

  it("shows facts as tables, also those that PostgreSQL can't take apart", async () => {
    const own = postgresStore({ pool, tenant: "shown" });
    const { uid } = await own.create({ sessionId: sessionId("talk") });
    await fillSession(own, uid);
    await own.accept(uid, "odd", prompt("input_3", "a\0b"));

    const inputs = await database.admin(
      "select input_id, kind from millrace.input where uid = $1 order by n",
      [uid],
    );
    const usage = await database.admin(
      "select run_id, input_tokens, output_tokens from millrace.usage where uid = $1",
      [uid],
    );

    expect(inputs).toEqual([
      { input_id: "input_1", kind: "prompt" },
      { input_id: "input_2", kind: "prompt" },
      { input_id: null, kind: null },
    ]);
    expect(usage).toEqual([{ run_id: "run_1", input_tokens: "1", output_tokens: "2" }]);
  });

  it("works on another schema beside the first", async () => {
    await using other = postgresStore({ url: database.adminUrl, schema: "other" });
    await other.migrate({ role: database.role });
    const own = postgresStore({ pool, schema: "other" });
    const { uid } = await own.create({ sessionId: sessionId("talk") });
    await fillSession(own, uid);

    await expect(store.read(uid)).rejects.toMatchObject({ code: "unknown_session" });

    expect((await contentOf(own, uid)).facts).toHaveLength(9);
  });
});

describe("a pool", () => {
  const before = process.env["DATABASE_URL"];
  afterEach(() => {
    if (before === undefined) delete process.env["DATABASE_URL"];
    else process.env["DATABASE_URL"] = before;
  });

  it("is made of the environment's DATABASE_URL, and ended with the store", async () => {
    const mark = `m${randomUUID().slice(0, 8)}`;
    process.env["DATABASE_URL"] = `${database.url}?application_name=${mark}`;
    const connections = async (): Promise<unknown> => {
      const text = "select count(*)::int as n from pg_stat_activity where application_name = $1";
      return (await database.admin(text, [mark]))[0]?.["n"];
    };
    const own = postgresStore();
    const uid = await newSession();
    await own.accept(uid, "key", prompt("input"));
    const open = await connections();

    await own.close();
    await own.close();

    await expect(own.head(uid)).rejects.toMatchObject({ code: "closed" });
    expect(open).toBe(1);
    await expect.poll(connections).toBe(0);
  });

  it("of the store's own makes another connection when an idle one is ended", async () => {
    const mark = `m${randomUUID().slice(0, 8)}`;
    await using own = postgresStore({ url: `${database.url}?application_name=${mark}` });
    const uid = await newSession();
    await own.accept(uid, "key_1", prompt("input_1"));

    await database.admin(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1",
      [mark],
    );
    await own.accept(uid, "key_2", prompt("input_2"));

    expect(await own.head(uid)).toBe(2);
  });

  it("is left open if it was given", async () => {
    const own = postgresStore({ pool });

    await own.close();

    await expect(own.list()).rejects.toMatchObject({ code: "closed" });
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  it("is needed, or a way to make one", () => {
    delete process.env["DATABASE_URL"];

    expect(() => postgresStore()).toThrow(/DATABASE_URL/);
  });
});

const started: FactBody = { type: "run_started", runId: runId("run_1") };

/** Keeps the first word of each query. */
function watchQueries(client: PoolClient, sent: string[]): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const watched = (...given: readonly unknown[]): unknown => {
    const text = String((given[0] as { readonly text?: unknown }).text).trim();
    if (!text.includes("where i.uid")) sent.push(text.split(/\s/)[0]!);
    return query(...given);
  };
  Object.assign(client, { query: watched });
}

/** Asks, within each transaction that writes, how it runs. */
function watchSettings(client: PoolClient, seen: string[]): void {
  const query = client.query.bind(client) as (
    ...given: unknown[]
  ) => Promise<{ rows: { s: string }[] }>;
  const watched = (...given: readonly unknown[]): unknown => {
    const text = String((given[0] as { readonly text?: unknown }).text).trim();
    if (text.startsWith("with won")) {
      const settings =
        "current_setting('transaction_isolation') || ', ' || current_setting('synchronous_commit')";
      void query(`select ${settings} as s`).then(({ rows }) => seen.push(rows[0]!.s));
    }
    return query(...given);
  };
  Object.assign(client, { query: watched });
}
