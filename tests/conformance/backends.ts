import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LosableDelivery, LosableDeliveryFixture } from "@millrace/conformance";
import type { SessionUid } from "@millrace/core";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { manualClock } from "@millrace/core/testing";
import { fileStore } from "@millrace/stores/file";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { keysOf } from "../../packages/stores/src/redis/keys.ts";
import { Link } from "../../packages/stores/src/redis/link.ts";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";

/** A store that is opened for one case. */
interface OpenedStore extends AsyncDisposable {
  readonly store: SessionStore;
}

/** A log that is opened for one case and can be made to forget. */
interface OpenedLog extends AsyncDisposable {
  readonly log: EventLog;
  readonly lose: (uid: SessionUid, lane?: number) => Promise<void>;
}

/** What a suite is run on. Engines over a network are started once, when the first case needs them. */
type OpenStore = () => Promise<OpenedStore>;
type OpenLog = (options: Parameters<LosableDeliveryFixture["open"]>[0]) => Promise<OpenedLog>;

const nothing = async (): Promise<void> => undefined;

export const openMemoryStore: OpenStore = async () => ({
  store: memorySessionStore(),
  [Symbol.asyncDispose]: nothing,
});

export const openFileStore: OpenStore = async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-"));
  const store = fileStore(folder, { fsync: "never" });
  const close = async (): Promise<void> => {
    await store.close();
    await rm(folder, { recursive: true });
  };
  return { store, [Symbol.asyncDispose]: close };
};

export const openMemoryLog: OpenLog = async (options) => {
  const log = memoryEventLog(options);
  return {
    log,
    lose: async (uid, lane) => log.lose(uid, lane),
    [Symbol.asyncDispose]: nothing,
  };
};

/** PostgreSQL, with one pool for all cases. To be disposed of after the last. */
export async function startPostgresStores(): Promise<AsyncDisposable & { open: OpenStore }> {
  const database = await sharedPostgres();
  const store = postgresStore({ url: database.url });
  await store.migrate();
  return {
    open: async () => ({ store, [Symbol.asyncDispose]: nothing }),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Redis, with connections of its own for each case. To be disposed of after the last. */
export async function startRedisLogs(): Promise<AsyncDisposable & { open: OpenLog }> {
  const { url, prefix } = await sharedRedis();
  const link = new Link({ url, settings: {}, timeoutMs: 60_000, waiting: 100 });
  return {
    open: async (options) => {
      const log = redisLog({ url, prefix, ...options });
      const lose: OpenedLog["lose"] = async (uid, lane) => {
        const keys = keysOf(prefix, uid);
        const lanes = lane === undefined ? [0, 1, 2, 3, 4, 5, 6, 7] : [lane];
        const eraser = await link.open();
        await eraser.unlink(lanes.map((one) => keys.lane(one)));
      };
      return { log, lose, [Symbol.asyncDispose]: log.close };
    },
    [Symbol.asyncDispose]: async () => link.close(),
  };
}

/** A store, a log and a clock that stands still until a case moves it. */
export async function openBoth(
  openStore: OpenStore,
  openLog: OpenLog,
  options: Parameters<LosableDeliveryFixture["open"]>[0],
): Promise<LosableDelivery> {
  const { store, [Symbol.asyncDispose]: closeStore } = await openStore();
  const { log, lose, [Symbol.asyncDispose]: closeLog } = await openLog(options);
  const close = async (): Promise<void> => {
    await closeLog();
    await closeStore();
  };
  return {
    store,
    log,
    lose,
    clock: manualClock(1_700_000_000_000),
    [Symbol.asyncDispose]: close,
  };
}
