import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withKeys } from "@millrace/conformance";
import type { SessionUid } from "@millrace/core";
import type { Clock, EventLog, MakeId, SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { fileStore } from "@millrace/stores/file";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { storeTime, uidOf } from "./record.ts";
import type { Recording } from "./record.ts";

/** A store and a log in which the recorded sessions are, still empty. */
export interface Backend extends AsyncDisposable {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly uidOf: (recording: Recording) => SessionUid;
}

interface Ports {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly close: () => Promise<void>;
}

/** The stores' clocks stand still and their ids are given, so that all of them store the same. */
interface Naming {
  readonly clock: Clock;
  readonly makeId: MakeId;
}

export type BackendName = "memory" | "files + memory log" | "PostgreSQL + Redis";

const openings: Readonly<Record<BackendName, (naming: Naming) => Promise<Ports>>> = {
  memory: async (naming) => ({
    store: memorySessionStore(naming),
    log: memoryEventLog(),
    close: async () => undefined,
  }),
  "files + memory log": async (naming) => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-"));
    const store = fileStore(folder, { ...naming, fsync: "never" });
    const close = async (): Promise<void> => {
      await store.close();
      await rm(folder, { recursive: true });
    };
    return { store, log: memoryEventLog(), close };
  },
  "PostgreSQL + Redis": async (naming) => {
    const database = await sharedPostgres();
    const { url, prefix } = await sharedRedis();
    const store = postgresStore({ url: database.url, ...naming });
    await store.migrate();
    // Nothing but a dead Redis may end a subscription here, however busy the machine is.
    const log = withKeys(redisLog({ url, prefix, timeoutMs: 120_000 }), store.key);
    const close = async (): Promise<void> => {
      await log.close();
      await store.close();
      await database[Symbol.asyncDispose]();
    };
    return { store, log, close };
  },
};

/** Opens a backend and creates the sessions in it. */
export async function openBackend(
  name: BackendName,
  recordings: readonly Recording[],
): Promise<Backend> {
  let uid = "";
  const clock = { ...systemClock, now: () => storeTime, monotonic: () => 0 };
  const { store, log, close } = await openings[name]({ clock, makeId: () => uid });
  const uids = new Map<Recording, SessionUid>();
  for (const recording of recordings) {
    uid = uidOf(recording.seed);
    const { sessionId } = recording;
    const created = await store.create({ sessionId });
    uids.set(recording, created.uid);
  }
  return {
    store,
    log,
    uidOf: (recording) => {
      const known = uids.get(recording);
      if (known === undefined) throw new Error(`session ${recording.seed} is not there`);
      return known;
    },
    [Symbol.asyncDispose]: close,
  };
}
