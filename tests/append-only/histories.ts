/** P34: nothing that a session goes through makes a vendor refuse its next request. */
import { expect } from "vitest";
import { firstSeed } from "../kit/runs.ts";
import { playSession } from "./play-session.ts";
import type { PlayOptions } from "./play-session.ts";
import type { VendorTarget } from "./vendors.ts";

/** Plays sessions of generated changes and faults, and expects that the vendor takes every request. */
export async function expectNothingRefused(
  target: VendorTarget,
  net: PlayOptions["net"],
  count: number,
): Promise<void> {
  const refused = new Map<string, string>();
  const total = { sends: 0, read: 0, all: 0, requests: 0, dropped: 0 };
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const { vendor, sends } = await playSession(seed, target, { net, hasFaults: seed % 2 === 0 });
    for (const message of vendor.refused) {
      const sort = message.replaceAll(/\d+/g, "0");
      if (!refused.has(sort)) refused.set(sort, `SEED=${seed}: ${message}`);
    }
    for (const { kind, outcome, why } of sends)
      if (outcome !== "completed") refused.set(kind, `SEED=${seed}: ${kind}: ${outcome} ${why}`);
    total.dropped += vendor.dropped.filter(({ reason }) => !reason.startsWith("model_")).length;
    total.sends += sends.length;
    total.read += vendor.bill.read;
    total.all += vendor.bill.total;
    total.requests += vendor.bill.requests;
  }

  expect([...refused.values()]).toEqual([]);
  expect(total.dropped).toBe(0);
  const share = ((100 * total.read) / total.all).toFixed(1);
  console.log(
    `count: P34 ${target.name}, ${net}: ${count} sessions from seed ${firstSeed}, ${total.sends} sends, ${total.requests} requests, 0 refused, ${share} % cached`,
  );
}

/** The time that so many sessions may take. */
export function timeFor(count: number): number {
  return 60_000 + count * 10_000;
}
