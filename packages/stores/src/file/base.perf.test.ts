import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inputId, itemId, runId, sessionUid } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import { expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { item, name, openFolder, prompt } from "../testing/fixtures.ts";
import { encodeSession } from "./copy.ts";
import { fileStore } from "./file-store.ts";

vi.setConfig({ testTimeout: 2 * patience });

const uid = sessionUid("u");
const sizes = [1_000, runs(20_000, 100_000)] as const;

/** Writes a session of so many facts, and keeps its checkpoint. */
async function writeSession(folder: string, size: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const facts = Array.from({ length: size }, (_, at): Fact => {
    const envelope = { v: 1, n: at + 1, sessionId: name, time: at } as const;
    const own = { ...item(`item_${at}`, "some words ".repeat(10)), id: itemId(`item_${at}`) };
    return { type: "item_committed", item: own, runId: runId("run_1"), ...envelope };
  });
  const lines = encodeSession({ uid, sessionId: name, metadata: {} }, { call: "import", facts });
  await writeFile(join(folder, "talk.jsonl"), Buffer.concat([...lines]));
  await using store = fileStore(folder, { fsync: "never" });
  await store.keepCheckpoint(uid, { head: size, text: "{}" });
}

it("opening a session at its checkpoint costs the same whatever its length", async () => {
  await using folder = await openFolder();
  const least = new Map<number, number>();
  for (const size of sizes) await writeSession(join(folder.path, String(size)), size);

  for (let round = 0; round < 30; round += 1) {
    for (const size of sizes) {
      const before = process.cpuUsage();
      await using store = fileStore(join(folder.path, String(size)), { fsync: "never" });
      const { uid } = (await store.find(name)) ?? {};
      if (uid === undefined) throw new Error("the session is not there");
      const { head = 0 } = (await store.checkpoint(uid)) ?? {};
      const tail = await store.read(uid, { after: head });
      const last = await store.read(uid, { before: head + 1, limit: 20 });
      const id = inputId(`input_${round}`);
      const accepted = await store.accept(uid, `key_${round}`, prompt(id));
      const bodies = [{ type: "queue_updated", inputId: id, change: "taken_back" }] as const;
      const now = head + tail.length + 1;
      const appended = await store.append(uid, { incarnation: 0, head: now, bodies });
      const { user, system } = process.cpuUsage(before);

      expect(tail.length).toBe(2 * round);
      expect(last.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, at) => size - 19 + at));
      expect([accepted.outcome, appended.outcome]).toEqual(["accepted", "appended"]);
      least.set(size, Math.min((user + system) / 1_000, least.get(size) ?? Infinity));
    }
  }

  const [short, long] = sizes.map((size) => least.get(size) ?? NaN) as [number, number];
  console.log(
    `count: opening at a checkpoint, ${short.toFixed(2)} ms of ${sizes[0]} facts, ${long.toFixed(2)} ms of ${sizes[1]}`,
  );
  expect(long / short).toBeLessThan(1.3);
});
