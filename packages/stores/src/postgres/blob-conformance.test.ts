import { blobStoreCases } from "@millrace/conformance";
import type { BlobStoreFixture } from "@millrace/conformance";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresBlobs } from "./postgres-blobs.ts";
import type { PostgresBlobs } from "./postgres-blobs.ts";
import { postgresStore } from "./postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";

let database: Database;
let blobs: PostgresBlobs;
let sessions: PostgresStore;

beforeAll(async () => {
  database = await openDatabase();
  const { role } = database;
  await postgresStore({ pool: database.adminPool }).migrate({ workerRole: role });
  blobs = postgresBlobs({ url: database.url, acrossTenants: true });
  sessions = postgresStore({ pool: database.pool() });
});

afterAll(async () => {
  await blobs.close();
  await database[Symbol.asyncDispose]();
});

const fixture: BlobStoreFixture = {
  open: async () => ({
    blobs,
    newPlace: async (tenant) => {
      const { uid } = await sessions.forTenant(tenant).create({ sessionId: crypto.randomUUID() });
      return { tenant, uid };
    },
    [Symbol.asyncDispose]: async () => undefined,
  }),
};

describe("postgresBlobs", () => {
  for (const { name, run } of blobStoreCases) it(name, () => run(fixture));
});
