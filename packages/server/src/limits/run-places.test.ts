import { describe, expect, it, vi } from "vitest";
import { memoryCounters, memorySessionStore } from "@millrace/core/memory";
import type { SessionRecord } from "@millrace/core/ports";
import { RunPlaces } from "./run-places.ts";

const store = memorySessionStore();

async function session(tenant: string, owner?: string): Promise<SessionRecord> {
  return { ...(await store.create({ sessionId: crypto.randomUUID(), owner })), tenant };
}

const limits = { runsPerUser: 1, runsPerTenant: 2 };

describe("places of runs", () => {
  it("are an owner's and a tenant's, and a refused run holds none", async () => {
    const counters = memoryCounters();
    const [here, there] = [new RunPlaces(counters, limits), new RunPlaces(counters, limits)];
    expect(await here.enter(await session("t", "ann"))).toBeDefined();
    expect(await there.enter(await session("t", "ann"))).toBeUndefined();
    const bobs = await there.enter(await session("t", "bob"));
    expect(bobs).toBeDefined();
    // The tenant is full, so eve has got no place of her own either.
    const eves = await session("t", "eve");
    expect(await there.enter(eves)).toBeUndefined();
    bobs?.leave();
    expect(await here.enter(await session("t", "eve"))).toBeDefined();
    expect(await here.enter(await session("u", "ann"))).toBeDefined();
  });

  it("of a run that waits for a person are free, and are taken again above the limit", async () => {
    const places = new RunPlaces(memoryCounters(), limits);
    const first = await places.enter(await session("t", "ann"));
    first?.rest(true);
    const second = await places.enter(await session("t", "ann"));
    expect(second).toBeDefined();
    first?.rest(false);
    second?.leave();
    expect(await places.enter(await session("t", "ann"))).toBeUndefined();
  });

  it("go over to the process that takes a run over", async () => {
    const counters = memoryCounters();
    const record = await session("t", "ann");
    await new RunPlaces(counters, limits).enter(record);
    expect(await new RunPlaces(counters, limits).enter(record)).toBeDefined();
  });

  it("stay while one of two processes that opened a session still has it open", async () => {
    const counters = memoryCounters();
    const [here, there] = [new RunPlaces(counters, limits), new RunPlaces(counters, limits)];
    const record = await session("t", "ann");
    const place = await here.enter(record);
    (await there.enter(record))?.leave(); // it lost the race for the input
    expect(await there.enter(await session("t", "ann"))).toBeUndefined();
    place?.leave();
    expect(await there.enter(await session("t", "ann"))).toBeDefined();
  });

  it("are renewed while a session is open, and those of a dead process end", async () => {
    vi.useFakeTimers();
    try {
      const counters = memoryCounters({ monotonic: () => Date.now() });
      const alive = new RunPlaces(counters, limits);
      const place = await alive.enter(await session("t", "ann"));
      await counters.hold({ key: "runs:1:t:bob", holder: "dead", limit: 1, leaseMs: 30_000 });
      expect(await alive.enter(await session("t", "bob"))).toBeUndefined();
      await vi.advanceTimersByTimeAsync(95_000);
      expect(await alive.enter(await session("t", "bob"))).toBeDefined();
      expect(await alive.enter(await session("t", "ann"))).toBeUndefined();
      place?.leave();
      expect(await alive.enter(await session("t", "ann"))).toBeDefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it("of sessions without an owner are the tenant's alone", async () => {
    const places = new RunPlaces(memoryCounters(), limits);
    expect(await places.enter(await session("t"))).toBeDefined();
    expect(await places.enter(await session("t"))).toBeDefined();
    expect(await places.enter(await session("t"))).toBeUndefined();
  });
});
