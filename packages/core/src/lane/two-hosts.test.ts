import { describe, expect, test } from "vitest";
import type { Clock } from "../ports/clock.ts";
import { manualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { append, begin, startWriter, uid } from "../testing/lane-fixture.ts";
import type { LaneFixture } from "../testing/lane-fixture.ts";
import { Load, defaultWindow } from "./load.ts";

/** A clock for two hosts. What is begun while the first one stands still is never called back. */
function sharedClock() {
  const time = manualClock();
  const stands = { still: false };
  const never = new Promise<void>(() => undefined);
  const clock: Clock = {
    ...time,
    sleep: (ms, signal) => (stands.still ? never : time.sleep(ms, signal)),
  };
  return { clock, time, stands };
}

async function batches({ log }: LaneFixture): Promise<number> {
  return (await log.read(uid, 0)).length;
}

describe("two hosts in one program, with a log each and one clock", () => {
  test("share no timer: one that stands still in its window does not hold the other one up", async () => {
    const { clock, time, stands } = sharedClock();
    const first = startWriter({ clock, windowMs: 50 });
    const second = startWriter({ clock, windowMs: 50 });
    for (const { writer } of [first, second]) {
      writer.write(begin);
      writer.write(append("a"));
    }
    await time.advance(0);
    const before = await batches(second);

    stands.still = true;
    first.writer.write(append("b"));
    await time.advance(0);
    stands.still = false;
    second.writer.write(append("b"));
    await time.advance(60);

    expect(await batches(second)).toBe(before + 1);
  });

  test("do not share their load: one that was busy does not widen the windows of the other", async () => {
    const time = manualClock();
    let busyMs = 0;
    const clock: Clock = { ...time, busyMs: () => busyMs };
    const [first, second] = [memoryEventLog(), memoryEventLog()];
    Load.of(first, clock).windowMs(defaultWindow);
    await time.advance(100);
    busyMs += 100;
    expect(Load.of(first, clock).windowMs(defaultWindow)).toBe(50);

    expect(Load.of(second, clock).windowMs(defaultWindow)).toBe(8);
    expect(Load.of(first, clock)).toBe(Load.of(first, clock));
  });
});
