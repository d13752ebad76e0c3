import {
  sessionStoreCases,
  sessionStoreCheckpointCases,
  sessionStoreDriverCases,
  sessionStoreHeadsCases,
} from "@millrace/conformance";
import type { SessionStoreFixture } from "@millrace/conformance";
import type { SessionStore } from "@millrace/core/ports";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";
import type { Pool } from "pg";

let database: Database;
let pipelined: Pool;
let plain: Pool;
let own: PostgresStore;

beforeAll(async () => {
  database = await openDatabase();
  pipelined = database.pool();
  plain = database.pool({ pipeline: false });
  own = postgresStore({ url: database.url });
});

afterAll(async () => {
  await own.close();
  await database[Symbol.asyncDispose]();
});

const nothing = async (): Promise<void> => undefined;

/** One store, which knows the rows of sessions from call to call. */
const remembers: SessionStoreFixture = {
  open: async () => ({
    store: postgresStore({ pool: pipelined }),
    [Symbol.asyncDispose]: nothing,
  }),
};

/** A new store for each call, over connections without a pipeline: as many processes would. */
const forgets: SessionStoreFixture = {
  open: async () => {
    const anew = (): SessionStore => postgresStore({ pool: plain });
    const store: SessionStore = {
      now: () => anew().now(),
      create: (options) => anew().create(options),
      find: (id) => anew().find(id),
      list: (options) => anew().list(options),
      page: (query) => anew().page(query),
      update: (uid, change) => anew().update(uid, change),
      remove: (uid, options) => anew().remove(uid, options),
      tombstone: (id) => anew().tombstone(id),
      key: (uid) => anew().key(uid),
      read: (uid, options) => anew().read(uid, options),
      head: (uid) => anew().head(uid),
      floors: (uid) => anew().floors(uid),
      claimedBy: (uid, by) => anew().claimedBy(uid, by),
      hasInput: (uid, inputId) => anew().hasInput(uid, inputId),
      claim: (uid, request) => anew().claim(uid, request),
      accept: (uid, key, body) => anew().accept(uid, key, body),
      open: (uid, request) => anew().open(uid, request),
      commit: (uid, request) => anew().commit(uid, request),
      append: (uid, request) => anew().append(uid, request),
      fork: (uid, options) => anew().fork(uid, options),
      heads: (uids) => anew().heads!(uids),
      checkpoint: (uid) => anew().checkpoint!(uid),
      keepCheckpoint: (uid, checkpoint) => anew().keepCheckpoint!(uid, checkpoint),
      drivers: {
        beat: (driver) => anew().drivers!.beat(driver),
        leave: (driver) => anew().drivers!.leave(driver),
        find: (uid) => anew().drivers!.find(uid),
        due: (options) => anew().drivers!.due(options),
      },
    };
    return { store, [Symbol.asyncDispose]: nothing };
  },
};

/** A store whose connections are its tenant's own: most calls are statements without a transaction. */
const owns: SessionStoreFixture = {
  open: async () => ({ store: own, [Symbol.asyncDispose]: nothing }),
};

const cases = [
  ...sessionStoreCases,
  ...sessionStoreHeadsCases,
  ...sessionStoreCheckpointCases,
  ...sessionStoreDriverCases,
];

describe("postgresStore", () => {
  for (const { name, run } of cases) it(name, () => run(remembers));
});

describe("postgresStore with a pool of its own", () => {
  for (const { name, run } of cases) it(name, () => run(owns));
});

describe("postgresStore, opened again for every call", () => {
  for (const { name, run } of cases) it(name, () => run(forgets));
});
