import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionStoreCases, sessionStoreCheckpointCases } from "@millrace/conformance";
import type { SessionStoreFixture } from "@millrace/conformance";
import type { SessionStore } from "@millrace/core/ports";
import { describe, it } from "vitest";
import { fileStore, openFileStore } from "./file-store.ts";
import type { FileStore } from "./file-store.ts";

const keepsOpen: SessionStoreFixture = {
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-"));
    const store = fileStore(folder);
    const close = async (): Promise<void> => {
      await store.close();
      await rm(folder, { recursive: true });
    };
    return { store, [Symbol.asyncDispose]: close };
  },
};

/** Forgets everything after each call that comes alone, so that what counts is on the disk. */
function reopening(before: (store: FileStore) => Promise<void>): SessionStoreFixture {
  return {
    open: async () => {
      const folder = await mkdtemp(join(tmpdir(), "millrace-"));
      const openStore = (): FileStore => openFileStore(folder, { fsync: "never", factsPerBase: 1 });
      let current = openStore();
      let calls = 0;
      let ready = Promise.resolve();
      const reopen = async (): Promise<void> => {
        await before(current);
        await current.close();
        current = openStore();
      };
      const during = async <T>(call: (store: FileStore) => Promise<T>): Promise<T> => {
        calls += 1;
        await ready;
        try {
          return await call(current);
        } finally {
          calls -= 1;
          if (calls === 0) ready = reopen();
          await ready;
        }
      };
      const store: SessionStore = {
        now: () => current.now(),
        create: (options) => during((store) => store.create(options)),
        find: (id) => during((store) => store.find(id)),
        list: (options) => during((store) => store.list(options)),
        page: (query) => during((store) => store.page(query)),
        update: (uid, change) => during((store) => store.update(uid, change)),
        remove: (uid, options) => during((store) => store.remove(uid, options)),
        tombstone: (id) => during((store) => store.tombstone(id)),
        key: (uid) => during((store) => store.key(uid)),
        read: (uid, options) => during((store) => store.read(uid, options)),
        head: (uid) => during((store) => store.head(uid)),
        floors: (uid) => during((store) => store.floors(uid)),
        claimedBy: (uid, by) => during((store) => store.claimedBy(uid, by)),
        hasInput: (uid, inputId) => during((store) => store.hasInput(uid, inputId)),
        claim: (uid, request) => during((store) => store.claim(uid, request)),
        accept: (uid, key, body) => during((store) => store.accept(uid, key, body)),
        open: (uid, request) => during((store) => store.open(uid, request)),
        commit: (uid, request) => during((store) => store.commit(uid, request)),
        append: (uid, request) => during((store) => store.append(uid, request)),
        checkpoint: (uid) => during((store) => store.checkpoint(uid)),
        keepCheckpoint: (uid, checkpoint) =>
          during((store) => store.keepCheckpoint(uid, checkpoint)),
        fork: (uid, options) => during((store) => store.fork(uid, options)),
      };
      const close = (): Promise<void> => rm(folder, { recursive: true });
      return { store, [Symbol.asyncDispose]: close };
    },
  };
}

const reopens = reopening(async () => undefined);

/** Opens every session at its base, and so with few facts or none in memory. */
const startsAtBases = reopening(async (store) => {
  for (const { uid, head } of await store.list({ limit: 1_000 })) {
    const kept = await store.checkpoint(uid);
    if (head > (kept?.head ?? 0)) await store.keepCheckpoint(uid, { head, text: "{}" });
  }
});

const cases = [...sessionStoreCases, ...sessionStoreCheckpointCases];

describe("fileStore", () => {
  for (const { name, run } of cases) it(name, () => run(keepsOpen));
});

describe("fileStore, opened again for every call", () => {
  for (const { name, run } of cases) it(name, () => run(reopens));
});

describe("fileStore, opened at its base for every call", () => {
  for (const { name, run } of sessionStoreCases) it(name, () => run(startsAtBases));
});
