import { randomUUID } from "node:crypto";
import { sessionId } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillSession, prompt } from "../testing/fixtures.ts";
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

async function filledSession(): Promise<SessionUid> {
  const { uid } = await store.create({ sessionId: sessionId(randomUUID()) });
  await fillSession(store, uid);
  return uid;
}

describe("a checkpoint in PostgreSQL", () => {
  it("that was made before a reset is not kept after it", async () => {
    const uid = await filledSession();

    await store.claim(uid, { from: 1, to: 3 });
    await store.keepCheckpoint!(uid, { head: 9, text: "holds what was undone" });

    expect(await store.checkpoint!(uid)).toBeUndefined();
    await store.keepCheckpoint!(uid, { head: 10, text: "made after it" });
    expect(await store.checkpoint!(uid)).toEqual({ head: 10, text: "made after it" });
  });

  it("is deleted in the transaction of the reset: one that is kept meanwhile waits, and is void", async () => {
    const uid = await filledSession();
    await store.keepCheckpoint!(uid, { head: 8, text: "old" });
    // An operator's session holds the row as a reset does until it commits.
    const reset = await database.adminPool.connect();
    await reset.query("begin");
    await reset.query("select 1 from millrace.session where uid = $1 for update", [uid]);
    const kept = store.keepCheckpoint!(uid, { head: 9, text: "meanwhile" });
    const early = await Promise.race([kept.then(() => "kept"), sleepBriefly()]);
    await reset.query("update millrace.session set head = 10, reset = 10 where uid = $1", [uid]);
    await reset.query("delete from millrace.checkpoint where uid = $1", [uid]);
    await reset.query("commit");
    reset.release();
    await kept;

    expect(early).toBe("waits");
    expect(await store.checkpoint!(uid)).toBeUndefined();
  });

  it("is removed with its session", async () => {
    const uid = await filledSession();
    await store.keepCheckpoint!(uid, { head: 9, text: "text" });

    await store.remove(uid);

    const text = "select * from millrace.checkpoint where uid = $1";
    expect(await database.admin(text, [uid])).toEqual([]);
    const unknown = { code: "unknown_session" };
    await expect(store.checkpoint!(uid)).rejects.toMatchObject(unknown);
    await expect(store.keepCheckpoint!(uid, { head: 9, text: "" })).rejects.toMatchObject(unknown);
  });

  it("is not kept if its text has no place in a column of text", async () => {
    const uid = await filledSession();

    for (const text of ["a\0b", "half a pair: \ud83d"]) {
      await store.keepCheckpoint!(uid, { head: 9, text });
    }

    expect(await store.checkpoint!(uid)).toBeUndefined();
  });

  it("is seen by its own tenant alone", async () => {
    const uid = await filledSession();
    await store.keepCheckpoint!(uid, { head: 9, text: "secret" });
    const other = postgresStore({ pool, tenant: "other" });
    await other.create({ sessionId: sessionId(randomUUID()) });

    await expect(other.checkpoint!(uid)).rejects.toMatchObject({ code: "unknown_session" });
    const client = await pool.connect();
    await client.query("begin; select set_config('millrace.tenant', 'other', true)");
    const { rows } = await client.query("select * from millrace.checkpoint");
    await client.query("rollback");
    client.release();
    expect(rows).toEqual([]);
    await store.accept(uid, "more", prompt("more"));
    expect(await store.checkpoint!(uid)).toEqual({ head: 9, text: "secret" });
  });
});

async function sleepBriefly(): Promise<string> {
  await new Promise((settle) => setTimeout(settle, 150));
  return "waits";
}
