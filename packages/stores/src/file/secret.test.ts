import { readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sessionId } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { fillSession, name, openFolder } from "../testing/fixtures.ts";
import { fileStore } from "./file-store.ts";

const fsync = "never";

it("the secret of a folder is one file for its owner alone, and changes no session's file", async () => {
  await using folder = await openFolder();
  await using store = fileStore(folder.path, { fsync });
  const { uid } = await store.create({ sessionId: name });
  await fillSession(store, uid);
  const before = await readFile(join(folder.path, "talk.jsonl"), "utf8");

  const key = await store.key(uid);

  const path = join(folder.path, "secret.key");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder.path, "talk.jsonl"), "utf8")).toBe(before);
  expect(before).not.toContain(key);
  expect(await readFile(path, "utf8")).not.toContain(key);
  expect((await store.list()).map((record) => record.sessionId)).toEqual([name]);
});

it("stores that ask for the first key of a folder at once get the same one", async () => {
  await using folder = await openFolder();
  await using first = fileStore(folder.path, { fsync });
  const { uid } = await first.create({ sessionId: name });
  const stores = Array.from({ length: 8 }, () => fileStore(folder.path, { fsync }));

  const keys = await Promise.all(stores.map((store) => store.key(uid)));

  expect(new Set(keys).size).toBe(1);
  expect((await readdir(folder.path)).filter((file) => file.startsWith("secret"))).toEqual([
    "secret.key",
  ]);
  await Promise.all(stores.map((store) => store.close()));
});

it("a session named like the secret is a session, and another folder has other keys", async () => {
  await using folder = await openFolder();
  await using other = await openFolder();
  const make = { makeId: () => "same" };
  await using one = fileStore(folder.path, { fsync, ...make });
  await using two = fileStore(other.path, { fsync, ...make });
  const { uid } = await one.create({ sessionId: sessionId("secret") });
  await two.create({ sessionId: sessionId("secret") });

  expect(await one.key(uid)).not.toBe(await two.key(uid));
  expect(await one.find(sessionId("secret"))).toMatchObject({ uid });
});

it("a damaged secret is an error, and a lost one is replaced", async () => {
  await using folder = await openFolder();
  const path = join(folder.path, "secret.key");
  await using store = fileStore(folder.path, { fsync });
  const { uid } = await store.create({ sessionId: name });
  await writeFile(path, "short\n");

  await expect(store.key(uid)).rejects.toMatchObject({ code: "corrupt_session" });
  await rm(path);
  expect(await store.key(uid)).toHaveLength(43);
});
