import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { BlobScope, BlobStore } from "@millrace/core/ports";
import { expect } from "vitest";
import { startChild } from "./child.ts";

/** A store of blobs that processes are killed over. */
export interface KilledBlobs {
  readonly blobs: BlobStore;
  readonly place: BlobScope;
  readonly arguments: readonly [kind: "file" | "postgres", where: string];
  /** What is left in the place of uploads that were cut off. */
  readonly leftovers: () => Promise<number>;
}

/** Kills processes in the middle of a put. What was answered is there, and nothing else is found. */
export async function killPuts(killed: KilledBlobs, rounds: number): Promise<void> {
  const { blobs, place } = killed;
  const answered = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    await using child = startChild("blob-run.ts", ...killed.arguments, place.uid, `${round}`);
    await child.hasPrinted(2 + (round % 3));
    await sleep((round * 7) % 40);
    child.kill("SIGKILL");
    await child.gone;
    for (const line of child.printed) if (line !== "begun") answered.add(line);
  }
  let total = 0;
  for (const hash of answered) {
    const sum = createHash("sha256");
    for await (const piece of (await blobs.read(place, hash)) ?? []) {
      sum.update(piece);
      total += piece.length;
    }
    expect(`sha256-${sum.digest("hex")}`).toBe(hash);
  }
  // A put may have been stored without its answer: it is whole then, and each kill can leave one.
  const size = 1_200_000;
  const unanswered = (await blobs.total(place)) - total;
  expect(unanswered % size).toBe(0);
  expect(unanswered / size).toBeLessThanOrEqual(rounds);
  const left = await killed.leftovers();
  expect(left).toBeGreaterThan(0); // else no kill fell into a put
  await sleep(20);
  await blobs.sweep({ ageMs: 0, named: async () => answered });
  expect(await killed.leftovers()).toBe(0);
  expect(await blobs.total(place)).toBe(total);
  console.log(`count: ${rounds} kills, ${answered.size} blobs answered, ${left} uploads cut off`);
}
