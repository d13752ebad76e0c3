import { describe, expect, it } from "vitest";
import { memoryCounters, memorySessionStore } from "@millrace/core/memory";
import type { SessionSlot } from "@millrace/agent/worker";
import type { Clock, Counters, SessionRecord } from "@millrace/core/ports";
import { manualClock } from "@millrace/core/testing";
import { idleLeaseMs, RunPlaces } from "./run-places.ts";

const store = memorySessionStore();

async function session(tenant: string, owner?: string): Promise<SessionRecord> {
  return { ...(await store.create({ sessionId: crypto.randomUUID(), owner })), tenant };
}

/** The places of a process whose driver has this name. */
function placesOf(
  counters: Counters,
  name: string,
  clock: Clock = manualClock(),
): { readonly enter: (session: SessionRecord) => Promise<SessionSlot | undefined> } {
  const places = new RunPlaces({ counters, limits, clock });
  return { enter: (record) => places.enter(record, name) };
}

/** Counters that places can't be given back to while they are away. */
function losable(counters: Counters): {
  readonly counters: Counters;
  readonly setAway: (is: boolean) => void;
} {
  let isAway = false;
  const release: Counters["release"] = (request) => {
    if (isAway) throw new Error("the counters are away");
    return counters.release(request);
  };
  return { counters: { ...counters, release }, setAway: (is) => void (isAway = is) };
}

const limits = { runsPerUser: 1, runsPerTenant: 2 };

describe("places of runs", () => {
  it("are an owner's and a tenant's, and a refused run holds none", async () => {
    const counters = memoryCounters();
    const [here, there] = [placesOf(counters, "here"), placesOf(counters, "there")];
    expect(await here.enter(await session("t", "ann"))).toBeDefined();
    expect(await there.enter(await session("t", "ann"))).toBeUndefined();
    const bobs = await there.enter(await session("t", "bob"));
    expect(bobs).toBeDefined();
    // The tenant is full, so eve has got no place of her own either.
    const eves = await session("t", "eve");
    expect(await there.enter(eves)).toBeUndefined();
    await bobs?.leave();
    expect(await here.enter(await session("t", "eve"))).toBeDefined();
    expect(await here.enter(await session("u", "ann"))).toBeDefined();
  });

  it("of a run that waits for a person are free, and are taken again above the limit", async () => {
    const places = placesOf(memoryCounters(), "here");
    const first = await places.enter(await session("t", "ann"));
    first?.rest(true);
    const second = await places.enter(await session("t", "ann"));
    expect(second).toBeDefined();
    first?.rest(false);
    await second?.leave();
    expect(await places.enter(await session("t", "ann"))).toBeUndefined();
  });

  it("go over to the process that takes a run over", async () => {
    const counters = memoryCounters();
    const record = await session("t", "ann");
    await placesOf(counters, "dead").enter(record);
    expect(await placesOf(counters, "here").enter(record)).toBeDefined();
  });

  it("stay while one of two processes that opened a session still has it open", async () => {
    const counters = memoryCounters();
    const [here, there] = [placesOf(counters, "here"), placesOf(counters, "there")];
    const record = await session("t", "ann");
    const place = await here.enter(record);
    await (await there.enter(record))?.leave(); // it lost the race for the input
    expect(await there.enter(await session("t", "ann"))).toBeUndefined();
    await place?.leave();
    expect(await there.enter(await session("t", "ann"))).toBeDefined();
  });

  it("are renewed while a session is open, and those of a dead process end", async () => {
    const clock = manualClock();
    const counters = memoryCounters(clock);
    const alive = placesOf(counters, "here", clock);
    const place = await alive.enter(await session("t", "ann"));
    await counters.hold({ key: "runs:1:t:bob", holder: "dead", limit: 1, leaseMs: 30_000 });
    expect(await alive.enter(await session("t", "bob"))).toBeUndefined();
    await clock.advance(95_000);
    expect(await alive.enter(await session("t", "bob"))).toBeDefined();
    expect(await alive.enter(await session("t", "ann"))).toBeUndefined();
    await place?.leave();
    expect(await alive.enter(await session("t", "ann"))).toBeDefined();
  });

  it("of a driver that was superseded are free when the new one leaves, and twice is as once", async () => {
    const counters = memoryCounters();
    const record = await session("t", "ann");
    await placesOf(counters, "dead").enter(record);
    const place = await placesOf(counters, "new").enter(record);

    place?.supersede?.("dead");
    place?.supersede?.("dead");
    place?.supersede?.("never held any");

    const third = placesOf(counters, "third");
    expect(await third.enter(await session("t", "ann"))).toBeUndefined();
    await place?.leave();
    expect(await third.enter(await session("t", "ann"))).toBeDefined();
  });

  it("of a slow driver that renews after it was superseded count once beside the new one's", async () => {
    const clock = manualClock();
    const counters = memoryCounters(clock);
    const record = await session("t", "ann");
    const slow = await placesOf(counters, "slow", clock).enter(record);
    const place = await placesOf(counters, "new", clock).enter(record);
    place?.supersede?.("slow");
    await clock.advance(40_000); // the slow one renews
    const third = placesOf(counters, "third", clock);
    expect(await third.enter(await session("t", "ann"))).toBeUndefined();
    await place?.leave();
    expect(await third.enter(await session("t", "ann"))).toBeUndefined(); // it may still run
    await slow?.leave(); // it has found the new claim
    expect(await third.enter(await session("t", "ann"))).toBeDefined();
  });

  it("of a session without work are free seconds after its process died, and are kept while it lives", async () => {
    const clock = manualClock();
    const counters = memoryCounters(clock);
    const living = await placesOf(counters, "living", clock).enter(await session("t", "ann"));
    living?.idle?.(true);
    await clock.advance(60_000);
    const other = placesOf(counters, "other", clock);
    expect(await other.enter(await session("t", "ann"))).toBeUndefined();

    const dead = { key: "runs:1:t:bob", holder: "s", by: "dead", limit: 1 };
    await counters.hold({ ...dead, leaseMs: 30_000 });
    await counters.hold({ ...dead, leaseMs: idleLeaseMs }); // as it did before it died
    expect(await other.enter(await session("t", "bob"))).toBeUndefined();
    await clock.advance(idleLeaseMs);
    expect(await other.enter(await session("t", "bob"))).toBeDefined();
  });

  it("that are given back while the counters are away are free seconds after they are there", async () => {
    const clock = manualClock();
    const { counters, setAway } = losable(memoryCounters(clock));
    const [here, there] = ["here", "there"].map((name) => placesOf(counters, name, clock));
    const place = await here?.enter(await session("t", "ann"));
    setAway(true);
    void place?.leave();
    await clock.advance(5_000);
    expect(await there?.enter(await session("t", "ann"))).toBeUndefined();
    setAway(false);
    await clock.advance(2_000);
    expect(await there?.enter(await session("t", "ann"))).toBeDefined();
  });

  it("that were given back while the counters were away, and are taken again, are kept", async () => {
    const clock = manualClock();
    const shared = memoryCounters(clock);
    const { counters, setAway } = losable(shared);
    const here = placesOf(counters, "here", clock);
    setAway(true);
    const place = await here.enter(await session("t", "ann"));
    place?.rest(true);
    place?.rest(false);
    setAway(false);
    await clock.advance(5_000);
    expect(await placesOf(shared, "there", clock).enter(await session("t", "ann"))).toBeUndefined();
  });

  it("of sessions without an owner are the tenant's alone", async () => {
    const places = placesOf(memoryCounters(), "here");
    expect(await places.enter(await session("t"))).toBeDefined();
    expect(await places.enter(await session("t"))).toBeDefined();
    expect(await places.enter(await session("t"))).toBeUndefined();
  });
});
