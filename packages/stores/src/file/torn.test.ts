import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import {
  fillSession,
  linesOf,
  name,
  openFolder,
  prompt,
  contentOf,
  writeLines,
} from "../testing/fixtures.ts";
import { fileStore } from "./file-store.ts";
import type { TornTail } from "./session-file.ts";

vi.setConfig({ testTimeout: patience });

const fsync = "never"; // what is tested here does not depend on the disk

/** A session, what is in its file, and what it was before its last call. */
async function prepare(folder: string) {
  await using store = fileStore(folder, { fsync });
  const { uid } = await store.create({ sessionId: name });
  await fillSession(store, uid);
  const before = await contentOf(store, uid);
  await store.accept(uid, "last", prompt("input_last"));
  const path = join(folder, "talk.jsonl");
  return { uid, path, before, lines: await linesOf(path) };
}

it("a last line cut at any byte is put aside, and the session goes on as if it had not begun", async () => {
  await using folder = await openFolder();
  const { uid, path, before, lines } = await prepare(folder.path);
  const last = lines.at(-1) as Buffer;

  for (let kept = 0; kept < last.length; kept += 1) {
    await writeLines(path, [...lines.slice(0, -1), last.subarray(0, kept)]);
    await writeFile(`${path}.torn`, "");
    const told: TornTail[] = [];
    await using store = fileStore(folder.path, { fsync, onTorn: (torn) => told.push(torn) });

    expect(await contentOf(store, uid)).toStrictEqual(before);
    expect((await store.find(name))?.head).toBe(before.facts.length);
    const answer = await store.accept(uid, "last", prompt("input_last"));

    expect(answer.outcome).toBe("accepted");
    expect(told.map(({ length }) => length)).toEqual(kept === 0 ? [] : [kept]);
    const aside = await readFile(`${path}.torn`);
    expect(
      aside.equals(
        kept === 0
          ? last.subarray(0, 0)
          : Buffer.concat([last.subarray(0, kept), Buffer.from("\n")]),
      ),
    ).toBe(true);
    expect((await store.verify(name)).ok).toBe(true);
    expect(await store.head(uid)).toBe(before.facts.length + 1);
  }
  console.log(`count: torn ends, ${last.length} bytes to cut at, 0 failures`);
});

it("reading a session with a torn end changes nothing", async () => {
  await using folder = await openFolder();
  const { uid, path, before, lines } = await prepare(folder.path);
  const torn = Buffer.concat(lines).subarray(0, -7);
  await writeFile(path, torn);

  await using store = fileStore(folder.path, { fsync });

  expect(await contentOf(store, uid)).toStrictEqual(before);
  expect((await store.list())[0]?.head).toBe(before.facts.length);
  expect((await readFile(path)).equals(torn)).toBe(true);
  expect(await readdir(folder.path)).toEqual(["talk.jsonl"]);
});

it("a last line of zeros, as a file system may leave it, is torn too", async () => {
  await using folder = await openFolder();
  const { uid, path, before, lines } = await prepare(folder.path);
  const last = lines.at(-1) as Buffer;
  await writeLines(path, [...lines.slice(0, -1), Buffer.alloc(last.length)]);

  await using store = fileStore(folder.path, { fsync });
  await store.accept(uid, "other", prompt("input_other"));

  expect(await store.head(uid)).toBe(before.facts.length + 1);
});

it("ends that were torn one after the other are all kept", async () => {
  await using folder = await openFolder();
  const { uid, path } = await prepare(folder.path);
  for (const key of ["a", "b"]) {
    await writeFile(path, `{"call":"${key}`, { flag: "a" });
    await using store = fileStore(folder.path, { fsync });
    await store.accept(uid, key, prompt(`input_${key}`));
  }

  expect(await readFile(`${path}.torn`, "utf8")).toBe('{"call":"a\n{"call":"b\n');
});
