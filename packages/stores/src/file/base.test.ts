import { readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packEpoch } from "@millrace/core/ports";
import type { SessionStore } from "@millrace/core/ports";
import { itemId, runId } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { startChild } from "../testing/child.ts";
import { contentOf, fillSession, item, name, openFolder, prompt } from "../testing/fixtures.ts";
import { fileStore, openFileStore } from "./file-store.ts";
import type { FileStore } from "./file-store.ts";

vi.setConfig({ testTimeout: 4 * patience });

const beside = ["base", "ids", "checkpoint"] as const;

function openStore(folder: string): FileStore {
  return openFileStore(folder, { fsync: "never", factsPerBase: 1 });
}

/** A session with a base after fact 9, and more facts after that one. */
async function prepare(folder: string): Promise<SessionUid> {
  await using store = openStore(folder);
  const { uid } = await store.create({ sessionId: name });
  await fillSession(store, uid);
  await store.keepCheckpoint(uid, { head: 9, text: "nine" });
  await store.accept(uid, "key_3", prompt("input_3"));
  return uid;
}

/** Asserts that every call finds what is stored, before and after the base. */
async function assertFound(store: SessionStore, uid: SessionUid): Promise<void> {
  for (const at of [1, 2, 3]) {
    const again = await store.accept(uid, `key_${at}`, prompt(`input_${at}`));
    expect(again).toMatchObject({ outcome: "duplicate" });
    const other = await store.accept(uid, `other_${at}`, prompt(`input_${at}`, "other"));
    expect(other).toEqual({ outcome: "refused", reason: "key_reused" });
  }
  const epoch = packEpoch({ incarnation: 1, generation: 9, attempt: 1 });
  const exists = await store.open(uid, { lane: 0, epoch, itemId: itemId("item_1") });
  expect(exists).toEqual({ outcome: "exists", item: item("item_1") });
}

describe("a session that is opened at its base", () => {
  it("has the same facts, floors and lookups as one that is read from its first line", async () => {
    await using folder = await openFolder();
    const uid = await prepare(folder.path);
    const path = join(folder.path, "talk.jsonl");
    await using store = openStore(folder.path);
    const found = await contentOf(store, uid);
    await assertFound(store, uid);
    expect(await store.verify(name)).toMatchObject({ ok: true, facts: 10 });
    await store.close();

    for (const file of beside) await rm(`${path}.${file}`);
    await using whole = openStore(folder.path);

    expect(await contentOf(whole, uid)).toStrictEqual(found);
    expect(found.facts).toHaveLength(10);
    await assertFound(whole, uid);
  });

  it("does not read the lines before it", async () => {
    await using folder = await openFolder();
    const uid = await prepare(folder.path);
    const path = join(folder.path, "talk.jsonl");
    const bytes = await readFile(path);
    const at = bytes.indexOf("input_1");
    bytes[at] = (bytes[at] as number) ^ 1;
    await writeFile(path, bytes);
    await using store = openStore(folder.path);

    expect(await store.head(uid)).toBe(10);
    expect(await store.read(uid, { after: 9 })).toHaveLength(1);
    expect(await store.accept(uid, "key_4", prompt("input_4"))).toMatchObject({
      outcome: "accepted",
    });
    // What is read is checked.
    const call = store.read(uid, { limit: 3 });
    await expect(call).rejects.toMatchObject({ code: "corrupt_session" });
    expect(await store.verify(name)).toMatchObject({ ok: false, code: "changed", line: 3 });
  });

  it("reads every range of facts as it was written", async () => {
    await using folder = await openFolder();
    let uid: SessionUid;
    const total = 700;
    {
      await using store = openStore(folder.path);
      ({ uid } = await store.create({ sessionId: name }));
      for (let head = 0; head < total; head += 7) {
        const bodies = Array.from({ length: 7 }, (_, at) => {
          return { type: "item_committed", item: item(`item_${head + at}`) } as const;
        });
        await store.append(uid, { incarnation: 0, head, bodies });
        if (head === 630) await store.keepCheckpoint(uid, { head: 637, text: "" });
      }
    }
    await using store = openStore(folder.path);
    const all = await store.read(uid);
    expect(all.map(({ n }) => n)).toEqual(Array.from({ length: total }, (_, at) => at + 1));
    const place = fc.integer({ min: 0, max: total + 10 });
    const limit = fc.option(fc.integer({ min: 1, max: total }), { nil: undefined });
    const count = runs(200, 5_000);

    await fc.assert(
      fc.asyncProperty(
        place,
        fc.option(place, { nil: undefined }),
        limit,
        async (after, before, most) => {
          const between = all.filter(({ n }) => n > after && n < (before ?? Infinity));
          const wanted =
            before === undefined ? between.slice(0, most) : between.slice(-(most ?? total));

          expect(await store.read(uid, { after, before, limit: most })).toStrictEqual(wanted);
        },
      ),
      { numRuns: count },
    );
    console.log(`count: ranges before and after a base, ${count} reads`);
  });

  it("undoes facts before it, and looks undone items up no more", async () => {
    await using folder = await openFolder();
    const uid = await prepare(folder.path);
    {
      await using store = openStore(folder.path);
      expect(await store.claim(uid, { from: 1, to: 4 })).toMatchObject({ outcome: "claimed" });
      expect(await store.checkpoint(uid)).toBeUndefined();
      await store.keepCheckpoint(uid, { head: 11, text: "eleven" });
    }
    await using store = openStore(folder.path);

    expect(await store.checkpoint(uid)).toEqual({ head: 11, text: "eleven" });
    const epoch = packEpoch({ incarnation: 2, generation: 1, attempt: 1 });
    const opened = await store.open(uid, { lane: 0, epoch, itemId: itemId("item_1") });
    expect(opened).toMatchObject({ outcome: "opened" });
    expect(await store.accept(uid, "key_2", prompt("input_2"))).toMatchObject({
      outcome: "duplicate",
    });
  });

  it("looks undone items up no more, also if the process that undid them had written the base", async () => {
    await using folder = await openFolder();
    let uid: SessionUid;
    {
      await using store = openStore(folder.path);
      ({ uid } = await store.create({ sessionId: name }));
      await fillSession(store, uid);
      await store.keepCheckpoint(uid, { head: 9, text: "nine" });
      await store.claim(uid, { from: 1, to: 4 });
      await store.keepCheckpoint(uid, { head: 10, text: "ten" });
    }
    await using store = openStore(folder.path);

    const epoch = packEpoch({ incarnation: 2, generation: 1, attempt: 1 });
    const opened = await store.open(uid, { lane: 0, epoch, itemId: itemId("item_1") });

    expect(opened).toMatchObject({ outcome: "opened" });
  });

  it("follows a reset that another process made after it", async () => {
    await using folder = await openFolder();
    const uid = await prepare(folder.path);
    await using reader = openStore(folder.path);
    expect(await reader.head(uid)).toBe(10);
    {
      await using writer = openStore(folder.path);
      await writer.claim(uid, { from: 1, to: 4 });
    }

    expect(await reader.find(name)).toMatchObject({ head: 11, incarnation: 2 });
    expect(await reader.read(uid)).toHaveLength(11);
    expect(await reader.floors(uid)).toEqual([]);
    expect(await reader.checkpoint(uid)).toBeUndefined();
  });

  it("keeps the table of ids as it grows", async () => {
    await using folder = await openFolder();
    let uid: SessionUid | undefined;
    const rounds = 12;
    for (let round = 0; round < rounds; round += 1) {
      await using store = openStore(folder.path);
      uid ??= (await store.create({ sessionId: name })).uid;
      const head = await store.head(uid);
      const bodies = Array.from({ length: 200 }, (_, at) => {
        return { type: "item_committed", item: item(`item_${head + at}`) } as const;
      });
      await store.append(uid, { incarnation: 0, head, bodies });
      await store.keepCheckpoint(uid, { head: head + 200, text: "" });
    }
    await using store = openStore(folder.path);
    await store.claim(uid as SessionUid, { from: 0 });

    const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
    for (let at = 0; at < 200 * rounds; at += 37) {
      const id = itemId(`item_${at}`);
      const answer = await store.open(uid as SessionUid, { lane: 0, epoch, itemId: id });
      expect(answer).toEqual({ outcome: "exists", item: item(id) });
    }
  });
});

describe("files beside a session", () => {
  it("are for their owner alone, and are removed with it", async () => {
    await using folder = await openFolder();
    const uid = await prepare(folder.path);
    expect((await readdir(folder.path)).toSorted()).toEqual([
      "talk.jsonl",
      "talk.jsonl.base",
      "talk.jsonl.checkpoint",
      "talk.jsonl.ids",
    ]);

    await using store = openStore(folder.path);
    await store.remove(uid);

    expect(await readdir(folder.path)).toEqual(["removed.log"]); // its tombstone
    expect((await stat(join(folder.path, "removed.log"))).mode & 0o777).toBe(0o600);
  });

  it("that are missing, changed or of another session make no difference", async () => {
    await using folder = await openFolder();
    await using elsewhere = await openFolder();
    const uid = await prepare(folder.path);
    await prepare(elsewhere.path);
    const path = join(folder.path, "talk.jsonl");
    const foreign = join(elsewhere.path, "talk.jsonl");
    const own = await Promise.all(beside.map((file) => readFile(`${path}.${file}`)));
    const others = await Promise.all(beside.map((file) => readFile(`${foreign}.${file}`)));
    const bytes = await readFile(path);
    const count = runs(60, 5_000);
    const harm = fc.oneof(
      fc.constant(() => undefined),
      fc.constant((_: Buffer, other: Buffer) => other),
      fc.nat().map((cut) => (whole: Buffer) => whole.subarray(0, cut % whole.length)),
      fc.nat().map((place) => (whole: Buffer) => {
        const changed = Buffer.from(whole);
        changed[place % whole.length] = (changed[place % whole.length] as number) ^ 1;
        return changed;
      }),
      fc.constant((whole: Buffer) => whole),
    );

    await fc.assert(
      fc.asyncProperty(fc.nat(beside.length - 1), harm, async (which, change) => {
        await writeFile(path, bytes);
        for (const [at, file] of beside.entries()) {
          const content = at === which ? change(own[at] as Buffer, others[at] as Buffer) : own[at];
          if (content === undefined) await rm(`${path}.${file}`, { force: true });
          else await writeFile(`${path}.${file}`, content);
        }
        await using store = openStore(folder.path);

        expect((await contentOf(store, uid)).facts).toHaveLength(10);
        await assertFound(store, uid);
        const kept = await store.checkpoint(uid);
        if (kept !== undefined) expect(kept).toEqual({ head: 9, text: "nine" });
        await store.accept(uid, "key_4", prompt("input_4"));
        await store.keepCheckpoint(uid, { head: 11, text: "eleven" });
        expect(await store.checkpoint(uid)).toEqual({ head: 11, text: "eleven" });
      }),
      { numRuns: count },
    );
    console.log(`count: caches missing, changed or foreign, ${count} sessions, 0 differences`);
  });

  it("do not hide a key, an item or an input by a changed byte", async () => {
    await using folder = await openFolder();
    const uid = await prepare(folder.path);
    const path = join(folder.path, "talk.jsonl");
    const table = await readFile(`${path}.ids`);
    const taken = Array.from({ length: (table.length - 32) / 16 }, (_, at) => 32 + 16 * at).filter(
      (at) => table.subarray(at, at + 16).some((byte) => byte !== 0),
    );
    expect(taken.length).toBeGreaterThan(5);

    for (const [count, at] of taken.entries()) {
      const changed = Buffer.from(table);
      changed[at + count] = (changed[at + count] as number) ^ 4;
      await writeFile(`${path}.ids`, changed);
      await using store = openStore(folder.path);

      await assertFound(store, uid);
    }
  });

  it("of facts that were taken back by hand are not used", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "talk.jsonl");
    await using store = openStore(folder.path);
    const { uid } = await store.create({ sessionId: name });
    await store.accept(uid, "key_1", prompt("input_1"));
    const early = await readFile(path);
    await store.accept(uid, "key_2", prompt("input_2"));
    await store.keepCheckpoint(uid, { head: 2, text: "two" });
    await store.close();

    await writeFile(path, early);
    await using again = openStore(folder.path);
    expect(await again.accept(uid, "key_3", prompt("input_3"))).toMatchObject({
      outcome: "accepted",
    });

    expect(await again.checkpoint(uid)).toBeUndefined();
    expect(await again.accept(uid, "key_2", prompt("input_2"))).toMatchObject({
      outcome: "accepted",
    });
  });
});

describe("a checkpoint", () => {
  it("is not kept while another process writes, and takes no lock for longer than it needs", async () => {
    await using folder = await openFolder();
    const uid = await prepare(folder.path);
    await using writer = openStore(folder.path);
    await using other = openStore(folder.path);
    await writer.hold(uid);
    await other.keepCheckpoint(uid, { head: 10, text: "ten" });
    expect(await other.checkpoint(uid)).toEqual({ head: 9, text: "nine" });

    await writer.release(uid);
    await other.keepCheckpoint(uid, { head: 10, text: "ten" });

    expect(await writer.checkpoint(uid)).toEqual({ head: 10, text: "ten" });
    await writer.append(uid, { incarnation: 1, head: 10, bodies: [] });
  });

  it("of a short session is kept without a base", async () => {
    await using folder = await openFolder();
    await using store = fileStore(folder.path, { fsync: "never" });
    const { uid } = await store.create({ sessionId: name });
    await store.append(uid, {
      incarnation: 0,
      head: 0,
      bodies: [{ type: "run_started", runId: runId("run_1") }],
    });
    await store.keepCheckpoint(uid, { head: 1, text: "one" });
    await store.close();

    expect((await readdir(folder.path)).toSorted()).toEqual([
      "talk.jsonl",
      "talk.jsonl.checkpoint",
    ]);
  });
});

it("a process that is killed while it keeps checkpoints loses no answer and no key", async () => {
  await using folder = await openFolder();
  const kills = runs(8, 1_000);
  const answered: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    await using child = startChild("checkpoint-run.ts", folder.path, `r${round}`);
    await child.hasPrinted(1 + (round % 7));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    child.kill("SIGKILL");
    await child.gone;
    answered.push(...child.printed.filter((line) => /^r\d+_\d+$/.test(line)));
  }

  await using store = openStore(folder.path);
  const uid = (await store.find(name))?.uid as SessionUid;
  for (const key of answered) {
    const again = await store.accept(uid, key, prompt(key));
    expect(again, key).toMatchObject({ outcome: "duplicate" });
  }
  const facts = await store.read(uid);
  const checkpoint = await store.checkpoint(uid);
  expect(checkpoint?.text).toBe(`at ${checkpoint?.head}`);
  expect(checkpoint?.head).toBeLessThanOrEqual(facts.length);
  expect(await store.verify(name)).toMatchObject({ ok: true, facts: facts.length });
  console.log(
    `count: kill -9 beside checkpoints, ${kills} kills, ${answered.length} answers, 0 lost`,
  );
});
