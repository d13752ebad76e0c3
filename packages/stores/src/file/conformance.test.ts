import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionStoreCases } from "@millrace/conformance";
import type { SessionStoreFixture } from "@millrace/conformance";
import type { SessionStore } from "@millrace/core/ports";
import { describe, it } from "vitest";
import { fileStore } from "./file-store.ts";

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
const reopens: SessionStoreFixture = {
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-"));
    let current = fileStore(folder, { fsync: "never" });
    let calls = 0;
    let ready = Promise.resolve();
    const reopen = async (): Promise<void> => {
      await current.close();
      current = fileStore(folder, { fsync: "never" });
    };
    const during = async <T>(call: (store: SessionStore) => Promise<T>): Promise<T> => {
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
      now: Date.now,
      create: (options) => during((store) => store.create(options)),
      find: (id) => during((store) => store.find(id)),
      list: (options) => during((store) => store.list(options)),
      remove: (uid) => during((store) => store.remove(uid)),
      key: (uid) => during((store) => store.key(uid)),
      read: (uid, options) => during((store) => store.read(uid, options)),
      head: (uid) => during((store) => store.head(uid)),
      floors: (uid) => during((store) => store.floors(uid)),
      claim: (uid, request) => during((store) => store.claim(uid, request)),
      accept: (uid, key, body) => during((store) => store.accept(uid, key, body)),
      open: (uid, request) => during((store) => store.open(uid, request)),
      commit: (uid, request) => during((store) => store.commit(uid, request)),
      append: (uid, request) => during((store) => store.append(uid, request)),
      fork: (uid, options) => during((store) => store.fork(uid, options)),
    };
    const close = (): Promise<void> => rm(folder, { recursive: true });
    return { store, [Symbol.asyncDispose]: close };
  },
};

describe("fileStore", () => {
  for (const { name, run } of sessionStoreCases) it(name, () => run(keepsOpen));
});

describe("fileStore, opened again for every call", () => {
  for (const { name, run } of sessionStoreCases) it(name, () => run(reopens));
});
