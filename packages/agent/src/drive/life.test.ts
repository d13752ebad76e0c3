import type { RunId, SessionUid } from "@millrace/core";
import type { DriverIndex, LivingSign } from "@millrace/core/ports";
import { manualClock } from "@millrace/core/testing";
import { runId, sessionUid } from "@millrace/core/writing";
import { describe, expect, it, vi } from "vitest";
import { DriverLife } from "./life.ts";

const uid = sessionUid("uid_1");
const other = sessionUid("uid_2");

/** An index whose sessions the test assigns, and whose calls it can count and refuse. */
function indexFixture() {
  const beats = new Map<string, number>();
  const drivers = new Map<SessionUid, string>();
  const engines = new Map<SessionUid, string>();
  const counts = { finds: 0, beats: 0 };
  const away = { value: false };
  const killed = new Set<string>();
  const answer = async <T>(value: () => T): Promise<T> => {
    if (away.value) throw new Error("the store is away");
    return value();
  };
  const index: DriverIndex = {
    beat: (name) =>
      answer(() => {
        if (!killed.has(name)) beats.set(name, (beats.get(name) ?? 0) + 1);
      }),
    leave: (name) => answer(() => void beats.delete(name)),
    find: (of) =>
      answer((): LivingSign | undefined => {
        counts.finds += 1;
        const driver = drivers.get(of);
        const sign = { driver: driver ?? "", beat: beats.get(driver ?? ""), by: engines.get(of) };
        return driver === undefined ? undefined : sign;
      }),
    due: () => answer(() => []),
  };
  return { index, beats, drivers, engines, counts, away, killed };
}

function lifeFixture() {
  const clock = manualClock();
  const fixture = indexFixture();
  const life = new DriverLife({ clock, name: "here" });
  const there = new DriverLife({ clock, name: "there" });
  const wake = vi.fn<() => void>();
  const leave = (of: SessionUid, patienceMs = Infinity, run?: RunId) =>
    life.isDriven({ uid: of, incarnation: 1, run }, { drivers: fixture.index, wake, patienceMs });
  return { ...fixture, clock, life, there, wake, leave };
}

describe("a process", () => {
  it("beats every 500 ms while it drives a run, and leaves the index after its last one", async () => {
    const { clock, life, beats, index } = lifeFixture();
    life.drive(uid, index);
    life.drive(other, index);
    await clock.advance(1_500);
    expect(beats.get("here")).toBe(3);

    life.rest(uid);
    await clock.advance(500);
    expect(beats.get("here")).toBe(4);

    life.rest(other);
    await life.left();
    expect(beats.has("here")).toBe(false);
    expect(clock.sleepers()).toBe(0);
  });

  it("writes nothing for a run that is shorter than a beat", async () => {
    const { clock, life, index } = lifeFixture();
    const [beat, leave] = [vi.spyOn(index, "beat"), vi.spyOn(index, "leave")];
    life.drive(uid, index);
    await clock.advance(499);
    life.rest(uid);
    await clock.advance(5_000);

    expect(beat).not.toHaveBeenCalled();
    expect(leave).not.toHaveBeenCalled();
  });

  it("beats on when its store is back", async () => {
    const { clock, life, beats, away, index } = lifeFixture();
    away.value = true;
    life.drive(uid, index);
    await clock.advance(10_000);
    away.value = false;
    await clock.advance(1_000);

    expect(beats.get("here")).toBe(2);
  });
});

describe("a session with a run of another process", () => {
  it("a driver whose beats begin anew with each run is not taken for dead", async () => {
    const { clock, there, index, drivers, leave, wake, life } = lifeFixture();
    drivers.set(uid, "there");
    for (let run = 1; run <= 6; run += 1) {
      there.drive(uid, index);
      await clock.advance(500); // the first beat of this run, which is 1 each time

      expect(await leave(uid, Infinity, runId(`run_${run}`))).toBe(true);
      await clock.advance(300);
      life.takeBack(uid);
      there.rest(uid);
      await there.left();
    }
    expect(wake).not.toHaveBeenCalled();
  });

  it("is left to a driver that beats, for as long as it beats", async () => {
    const { clock, there, wake, leave, drivers, killed, index } = lifeFixture();
    drivers.set(uid, "there");
    there.drive(uid, index);

    expect(await leave(uid)).toBe(true);
    await clock.advance(60_000);
    expect(wake).not.toHaveBeenCalled();

    killed.add("there");
    await clock.advance(2_100);
    expect(wake).toHaveBeenCalledOnce();
    expect(await leave(uid)).toBe(false);
  });

  it("is taken over 1.5 s after the first read from a driver that never beats", async () => {
    const { clock, wake, leave, drivers } = lifeFixture();
    drivers.set(uid, "there");

    expect(await leave(uid)).toBe(true);
    await clock.advance(1_499);
    expect(wake).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(wake).toHaveBeenCalledOnce();
    expect(await leave(uid)).toBe(false);
  });

  it("is free at once without a driver, and if its driver is this process", async () => {
    const { leave, drivers, clock } = lifeFixture();
    expect(await leave(uid)).toBe(false);
    drivers.set(uid, "here");
    expect(await leave(uid)).toBe(false);
    expect(clock.sleepers()).toBe(0);
  });

  it("is woken within a beat when its driver releases it", async () => {
    const { clock, there, wake, leave, drivers, index } = lifeFixture();
    drivers.set(uid, "there");
    there.drive(uid, index);
    await leave(uid);
    await clock.advance(5_000);
    drivers.delete(uid);
    await clock.advance(500);

    expect(wake).toHaveBeenCalledOnce();
  });

  it("is not taken from its driver by a store that is away for 20 s", async () => {
    const { clock, there, wake, leave, drivers, away, index } = lifeFixture();
    drivers.set(uid, "there");
    there.drive(uid, index);
    await leave(uid);
    for (let times = 0; times < 5; times += 1) {
      await clock.advance(3_000);
      away.value = true;
      await clock.advance(20_000);
      away.value = false;
    }
    await clock.advance(3_000);

    expect(wake).not.toHaveBeenCalled();
  });

  it("is woken when the patience with a living driver is over", async () => {
    const { clock, there, wake, leave, drivers, index } = lifeFixture();
    drivers.set(uid, "there");
    there.drive(uid, index);
    await leave(uid, 10_000);
    await clock.advance(9_000);
    expect(wake).not.toHaveBeenCalled();
    await clock.advance(1_500);

    expect(wake).toHaveBeenCalled();
    expect(await leave(uid)).toBe(false);
  });
});

describe("a session that an engine has claimed", () => {
  const run = runId("run_1");

  it("is left to it while its run is on, however long it is silent, at the cost of one read", async () => {
    const { clock, wake, leave, drivers, engines, counts } = lifeFixture();
    drivers.set(uid, "there");
    engines.set(uid, "engine_1");

    expect(await leave(uid, Infinity, run)).toBe(true);
    await clock.advance(3_600_000);
    expect(await leave(uid, Infinity, run)).toBe(true);

    expect(wake).not.toHaveBeenCalled();
    expect(counts.finds).toBe(1);
  });

  it("is left to it also if the engine works in this process", async () => {
    const { leave, drivers, engines } = lifeFixture();
    drivers.set(uid, "here");
    engines.set(uid, "engine_1");

    expect(await leave(uid, Infinity, run)).toBe(true);
  });

  it("is free when the patience with its input is over, and not before", async () => {
    const { clock, wake, leave, drivers, engines } = lifeFixture();
    drivers.set(uid, "there");
    engines.set(uid, "engine_1");

    expect(await leave(uid, 10_000)).toBe(true);
    await clock.advance(9_500);
    expect(wake).not.toHaveBeenCalled();
    await clock.advance(1_000);
    expect(wake).toHaveBeenCalled();
    expect(await leave(uid, 10_000)).toBe(false);
  });

  it("is observed like any other once another driver has claimed it", async () => {
    const { clock, life, wake, drivers, engines, index } = lifeFixture();
    drivers.set(uid, "there");
    engines.set(uid, "engine_1");
    const options = { drivers: index, wake, patienceMs: Infinity };
    expect(await life.isDriven({ uid, incarnation: 1, run }, options)).toBe(true);

    engines.delete(uid);
    expect(await life.isDriven({ uid, incarnation: 2, run }, options)).toBe(true);
    await clock.advance(2_000);

    expect(wake).toHaveBeenCalledOnce();
  });
});

it("one read at a time observes a driver, however many sessions it drives", async () => {
  const { clock, there, wake, leave, drivers, counts, killed, index } = lifeFixture();
  const sessions = Array.from({ length: 200 }, (_, at) => sessionUid(`uid_s${at}`));
  for (const of of sessions) {
    drivers.set(of, "there");
    there.drive(of, index);
  }
  await clock.advance(500); // from the first beat on the driver is observed by its name
  await Promise.all(sessions.map((of) => leave(of)));
  counts.finds = 0;

  await clock.advance(10_000);
  expect(counts.finds).toBe(20);

  killed.add("there");
  await clock.advance(2_100);
  expect(wake).toHaveBeenCalledTimes(200);
});

it("a driver that was idle before its claim is not dead for that", async () => {
  const { clock, there, life, wake, leave, drivers, index } = lifeFixture();
  drivers.set(other, "there"); // an earlier claim of a driver that has left
  await leave(other);
  await clock.advance(1_500);
  expect(wake).toHaveBeenCalledOnce();

  drivers.set(uid, "there");
  there.drive(uid, index);
  expect(await leave(uid)).toBe(true);
  await clock.advance(10_000);

  expect(wake).toHaveBeenCalledOnce();
  life.takeBack(uid);
});

it("a driver of runs that are shorter than a beat is observed anew in each of them", async () => {
  const { clock, wake, leave, drivers } = lifeFixture();
  drivers.set(uid, "there");
  for (let at = 0; at < 10; at += 1) {
    expect(await leave(uid, Infinity, runId(`run_${at}`))).toBe(true);
    await clock.advance(450);
  }

  expect(wake).not.toHaveBeenCalled();
});
