import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { inputId as anyInputId, itemId, runId, sessionUid } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import { expect, it, vi } from "vitest";
import { growth, notQuadratic } from "../../../../tests/kit/growth.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { item, name, openFolder, prompt } from "../testing/fixtures.ts";
import { encodeSession } from "./copy.ts";
import { fileStore } from "./file-store.ts";
import type { FileStore } from "./file-store.ts";
import { encodeEntry } from "./line.ts";

vi.setConfig({ testTimeout: patience });

const uid = sessionUid("u");

/** Writes a session of so many facts, one a line as calls leave them. */
async function writeSession(folder: string, size: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const [head] = encodeSession(
    { uid, sessionId: name, metadata: {} },
    { call: "import", facts: [] },
  );
  const header = head as Buffer;
  let hash = /"hash":"(\w+)"/.exec(header.toString())?.[1] as string;
  const lines = [header];
  for (let n = 1; n <= size; n += 1) {
    const fact: Fact = {
      type: "item_committed",
      item: { ...item(`item_${n}`, "some words ".repeat(10)), id: itemId(`item_${n}`) },
      runId: runId("run_1"),
      v: 1,
      n,
      sessionId: name,
      time: n,
    };
    const line = encodeEntry(hash, { call: "append", facts: [fact], head: n, incarnation: 0 });
    ({ hash } = line);
    lines.push(line.bytes);
  }
  await appendFile(join(folder, "talk.jsonl"), Buffer.concat(lines));
}

it("opening a session is linear in its facts", async () => {
  await using folder = await openFolder();
  for (const size of [5_000, 20_000]) await writeSession(join(folder.path, String(size)), size);

  const ratio = await growth(5_000, (size) => async () => {
    await using store = fileStore(join(folder.path, String(size)), { fsync: "never" });
    expect(await store.head(uid)).toBe(size);
  });

  expect(ratio).toBeLessThan(notQuadratic);
});

it("a call on a session costs the same whatever its length", async () => {
  await using folder = await openFolder();
  const stores = new Map<number, FileStore>();
  let calls = 0;
  for (const size of [4_000, 16_000]) {
    await writeSession(join(folder.path, String(size)), size);
    const store = fileStore(join(folder.path, String(size)), { fsync: "never" });
    await store.claim(uid, { from: 0 });
    stores.set(size, store);
  }

  const ratio = await growth(4_000, (size) => async () => {
    const store = stores.get(size) as FileStore;
    for (let at = 0; at < 300; at += 1) {
      calls += 1;
      const inputId = anyInputId(`input_${calls}`);
      await store.accept(uid, `key_${calls}`, prompt(inputId));
      const change = { type: "queue_updated", inputId, change: "taken_back" } as const;
      await store.accept(uid, `back_${calls}`, change);
    }
  });
  await Promise.all([...stores.values()].map((store) => store.close()));

  expect(ratio).toBeLessThan(3); // 1 if it is so, 4 if a call were linear in the session
});

it("following a session that another writes costs what is new", async () => {
  await using folder = await openFolder();
  const pairs = new Map<number, readonly [FileStore, FileStore]>();
  for (const size of [4_000, 16_000]) {
    const path = join(folder.path, String(size));
    await writeSession(path, size);
    const pair = [
      fileStore(path, { fsync: "never" }),
      fileStore(path, { fsync: "never" }),
    ] as const;
    for (const store of pair) await store.head(uid);
    pairs.set(size, pair);
  }
  let calls = 0;

  const ratio = await growth(4_000, (size) => async () => {
    const [writer, reader] = pairs.get(size) as readonly [FileStore, FileStore];
    for (let at = 0; at < 50; at += 1) {
      calls += 1;
      await writer.append(uid, {
        incarnation: 0,
        head: await writer.head(uid),
        bodies: [{ type: "item_committed", item: item(`more_${calls}`) }],
      });
      const facts = await reader.read(uid, { after: size });
      expect(facts.length).toBeGreaterThan(at);
    }
  });
  for (const pair of pairs.values()) await Promise.all(pair.map((store) => store.close()));

  expect(ratio).toBeLessThan(3); // as above
});
