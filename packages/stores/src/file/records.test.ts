import { writeFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import { expect, it } from "vitest";
import { openFolder, prompt } from "../testing/fixtures.ts";
import { fileStore } from "./file-store.ts";
import { encodeEntry, encodeHeader } from "./line.ts";

const fsync = "never";

/** The file of a session as the release before records wrote it. */
function earlierFile(uid: string, name: string, times: readonly number[]): Buffer {
  const id = sessionId(name);
  const header = encodeHeader({ uid: sessionUid(uid), sessionId: id, metadata: { a: 1 } });
  const lines = [header.bytes];
  let { hash } = header;
  for (const [at, time] of times.entries()) {
    const fact: Fact = { ...prompt(`input_${at}`), v: 1, n: at + 1, sessionId: id, time };
    const key = `key_${at}`;
    const entry = { call: "accept", key, facts: [fact], head: at + 1, incarnation: 0 } as const;
    const written = encodeEntry(hash, entry);
    lines.push(written.bytes);
    ({ hash } = written);
  }
  return Buffer.concat(lines);
}

it("a session of an earlier release has the times of its facts, and keeps them", async () => {
  await using folder = await openFolder();
  await writeFile(join(folder.path, "talk.jsonl"), earlierFile("old", "talk", [1_000, 2_000]));
  await writeFile(
    join(folder.path, "sub_old_item_1.jsonl"),
    earlierFile("sub", "sub_old_item_1", []),
  );
  const times = { createdAt: 1_000, revision: 1, status: "running", metadata: { a: 1 } };
  {
    await using store = fileStore(folder.path, { fsync });
    expect(await store.find("talk")).toMatchObject({ ...times, updatedAt: 2_000, head: 2 });
    expect((await store.page()).records.map(({ uid }) => uid)).toEqual(["old"]);
    await store.update(sessionUid("old"), { title: "Old talk" });
    await store.accept(sessionUid("old"), "key", prompt("new"));
  }
  await using store = fileStore(folder.path, { fsync });
  const found = await store.find("talk");
  expect(found).toMatchObject({ ...times, revision: 2, title: "Old talk", head: 3 });
  expect(found?.updatedAt).toBeGreaterThan(2_000);
  expect((await store.verify("talk")).ok).toBe(true);
});

it("what an earlier release reads of a line stands where it reads it", async () => {
  await using folder = await openFolder();
  await using store = fileStore(folder.path, { fsync });
  const { uid } = await store.create({ sessionId: "talk", owner: "ann", title: "Talk" });
  await store.accept(uid, "key", prompt("input"));
  await store.update(uid, { title: "Talks" });

  const [, accepted, updated] = (await readFile(join(folder.path, "talk.jsonl"), "utf8")).split(
    "\n",
  );
  expect(accepted).toMatch(/^\{"call":"accept","at":\d+,"status":"running","key":"key","facts":\[/);
  expect(updated).toMatch(
    /^\{"call":"update","at":\d+,"status":"running","changed":\d+,"change":\{/,
  );
  for (const line of [accepted, updated]) {
    expect(line).toMatch(/\],"head":1,"incarnation":0,"hash":"[0-9a-f]{64}"\}$/);
  }
});

it("an update leaves the lock as it was", async () => {
  await using folder = await openFolder();
  await using one = fileStore(folder.path, { fsync });
  await using other = fileStore(folder.path, { fsync });
  const { uid } = await one.create({ sessionId: "talk" });
  await expect(other.update(uid, { title: "no" })).rejects.toMatchObject({
    code: "session_locked",
  });
  await one.release(uid);

  for (const [at, store] of [other, one, other].entries()) {
    expect((await store.update(uid, { title: `title ${at}` })).outcome).toBe("updated");
  }

  expect(await one.find("talk")).toMatchObject({ title: "title 2", revision: 4 });
  expect((await one.page()).records).toMatchObject([{ title: "title 2" }]);
});

it("a page has what another process changed, added and removed since the one before", async () => {
  await using folder = await openFolder();
  await using reader = fileStore(folder.path, { fsync });
  await using writer = fileStore(folder.path, { fsync });
  const names = ["a", "b", "c"];
  for (const name of names) await writer.create({ sessionId: name });
  const seen = async (): Promise<readonly string[]> =>
    (await reader.page()).records.map(
      ({ sessionId: id, title, status }) => `${id} ${title} ${status}`,
    );
  expect([...(await seen())].toSorted()).toEqual(names.map((name) => `${name} undefined idle`));

  const [a, b] = [await writer.find("a"), await writer.find("b")];
  await writer.accept(a!.uid, "key", prompt("input"));
  await writer.update(a!.uid, { title: "A" });
  await writer.remove(b!.uid);
  await writer.create({ sessionId: "d", title: "D" });

  expect([...(await seen())].toSorted()).toEqual(["a A running", "c undefined idle", "d D idle"]);
});
