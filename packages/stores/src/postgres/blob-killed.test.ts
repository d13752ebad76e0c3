import { sessionUid } from "@millrace/core/writing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { killPuts } from "../testing/blob-kills.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresBlobs } from "./postgres-blobs.ts";
import { postgresStore } from "./postgres-store.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

const mediaType = "image/png";

describe("blobs in PostgreSQL", () => {
  it(
    "are there as a whole or not at all when a process is killed in a put",
    async () => {
      const store = postgresStore({ pool: database.pool() });
      const { uid } = await store.create({ sessionId: "killed" });
      const blobs = postgresBlobs({ pool: database.pool() });
      const leftovers = async (): Promise<number> => {
        const rows = await database.admin("select 1 from millrace.blob where hash is null");
        return rows.length;
      };
      const args = ["postgres", database.url] as const;
      await killPuts({ blobs, place: { uid }, arguments: args, leftovers }, runs(3, 200));
    },
    patience * 5,
  );

  it("go with their session, in the same transaction", async () => {
    const store = postgresStore({ pool: database.pool() });
    const { uid } = await store.create({ sessionId: "removed" });
    const blobs = postgresBlobs({ pool: database.pool() });
    await blobs.put({ uid }, Buffer.alloc(600_000, 7), { mediaType });

    await store.remove(uid);

    const left =
      "select 1 from millrace.blob join millrace.blob_piece using (upload) where uid = $1";
    expect(await database.admin(left, [uid])).toEqual([]);
    const put = blobs.put({ uid }, Buffer.from("abc"), { mediaType });
    await expect(put).rejects.toMatchObject({ code: "unknown_session" });
  });

  it("are of one tenant, also where the store forgets to ask for it", async () => {
    const pool = database.pool();
    const store = postgresStore({ pool, tenant: "mine" });
    const { uid } = await store.create({ sessionId: "talk" });
    const blobs = postgresBlobs({ pool });
    await blobs.put({ uid, tenant: "mine" }, Buffer.from("abc"), { mediaType });
    const client = await pool.connect();
    try {
      await client.query("begin");
      await client.query("select set_config('millrace.tenant', 'theirs', true)");
      for (const table of ["blob", "blob_piece"]) {
        expect((await client.query(`select * from millrace.${table}`)).rows).toEqual([]);
      }
      const across = client.query("select * from millrace.old_blob_places(0, '', 100)");
      await expect(across).rejects.toMatchObject({ code: "42501" });
    } finally {
      await client.query("rollback");
      client.release();
    }
    // The uid of another tenant's session is no session of this one.
    const put = blobs.put({ uid, tenant: "theirs" }, Buffer.from("abc"), { mediaType });
    await expect(put).rejects.toMatchObject({ code: "unknown_session" });
  });

  it("of a session that never was are refused", async () => {
    const blobs = postgresBlobs({ pool: database.pool() });
    const place = { uid: sessionUid("never") };

    const put = blobs.put(place, Buffer.from("abc"), { mediaType });

    await expect(put).rejects.toMatchObject({ code: "unknown_session" });
    await blobs.close();
    await expect(blobs.total(place)).rejects.toMatchObject({ code: "closed" });
  });
});
