import { expect, it } from "vitest";
import { memoryBlobs, memorySessionStore, systemClock } from "@millrace/core/memory";
import type { Clock } from "@millrace/core/ports";
import { Served } from "../testing/served.ts";
import { keepSwept } from "./sweeps.ts";

const dayMs = 24 * 60 * 60 * 1_000;

it("blobs that nothing names are swept every hour until the end, also after a sweep that failed", async () => {
  let now = 0;
  const waits: number[] = [];
  const end = new AbortController();
  const totals: number[] = [];
  const idle: Clock["idle"] = async (ms) => {
    waits.push(ms);
    totals.push(await blobs.total({ uid }));
    now += 2 * dayMs;
    if (waits.length === 4) end.abort();
  };
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: idle,
    idle,
    after: systemClock.after,
  };
  const store = memorySessionStore();
  const blobs = memoryBlobs({ clock });
  const { uid } = await store.create({ sessionId: "s" });
  await blobs.put({ uid }, new Uint8Array(3), { mediaType: "text/plain" });
  let sweeps = 0;
  const failing: typeof blobs = {
    ...blobs,
    sweep: async (options) => {
      sweeps += 1;
      if (sweeps === 2) throw new Error("away");
      return await blobs.sweep(options);
    },
  };

  await keepSwept({ blobs: failing, store, clock, random: () => 0.5, signal: end.signal });

  expect(totals).toEqual([3, 3, 0, 0]);
  expect(waits).toEqual([3_600_000, 3_600_000, 3_600_000, 3_600_000]);
});

it("a server that drives sweeps at its start, and one that does not leaves that to others", async () => {
  for (const drive of [true, false]) {
    let sweeps = 0;
    const blobs = memoryBlobs();
    const counting: typeof blobs = {
      ...blobs,
      sweep: async (options) => {
        sweeps += 1;
        return await blobs.sweep(options);
      },
    };
    await using served = new Served(undefined, {
      blobs: counting,
      driver: drive ? undefined : false,
    });
    await served.create("s");
    expect(sweeps).toBe(drive ? 1 : 0);
  }
});
