import { describe, expect, test } from "vitest";
import type { Clock } from "../ports/clock.ts";
import type { EventLog, WindowBounds } from "../ports/event-log.ts";
import { manualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { systemClock } from "../reference/system.ts";
import { append, begin, startWriter } from "../testing/lane-fixture.ts";
import { Load, defaultWindow } from "./load.ts";

/** A process whose event loop is busy for a share of the time, which the test sets. */
function startProcess() {
  const time = manualClock();
  let busyMs = 0;
  const clock: Clock = { ...time, busyMs: () => busyMs };
  const spend = async (ms: number, share: number): Promise<void> => {
    for (let at = 0; at < ms; at += 1) {
      busyMs += share;
      await time.advance(1);
    }
  };
  return { clock, time, spend, load: Load.of(memoryEventLog(), clock) };
}

describe("the window by load", () => {
  test.each([
    [0, 8],
    [0.49, 8],
    [0.5, 25],
    [0.74, 25],
    [0.76, 50],
    [1, 50],
  ])("of an event loop that is busy for %s of the time is %s ms", async (share, windowMs) => {
    const { load, spend } = startProcess();
    await spend(100, share);

    expect(load.windowMs(defaultWindow)).toBe(windowMs);
  });

  test.each<[WindowBounds, number, number]>([
    [{ leastMs: 0, mostMs: 50 }, 0, 0],
    [{ leastMs: 0, mostMs: 50 }, 0.6, 25],
    [{ leastMs: 8, mostMs: 20 }, 0.9, 20],
    [{ leastMs: 40, mostMs: 50 }, 0.6, 40],
    [{ leastMs: 50, mostMs: 50 }, 0, 50],
    [{ leastMs: 5, mostMs: 5 }, 1, 5],
  ])("within the bounds %j at a load of %s is %s ms", async (bounds, share, windowMs) => {
    const { load, spend } = startProcess();
    await spend(100, share);

    expect(load.windowMs(bounds)).toBe(windowMs);
  });

  test("is widened within 100 ms of a load, and narrowed half a second after the last of it", async () => {
    const { load, spend } = startProcess();
    const windows = async (ms: number, share: number): Promise<readonly number[]> => {
      const seen: number[] = [];
      for (let at = 0; at < ms; at += 100) {
        await spend(100, share);
        seen.push(load.windowMs(defaultWindow));
      }
      return seen;
    };

    expect(await windows(300, 0.1)).toEqual([8, 8, 8]);
    expect(await windows(200, 0.9)).toEqual([50, 50]);
    expect(await windows(300, 0.1)).toEqual([50, 50, 50]);
    expect(await windows(100, 0.8)).toEqual([50]);
    expect(await windows(600, 0.1)).toEqual([50, 50, 50, 50, 8, 8]);
  });

  test("of a clock that does not know its load is the shortest", async () => {
    const time = manualClock();
    await time.advance(10_000);

    expect(Load.of(memoryEventLog(), time).windowMs(defaultWindow)).toBe(8);
  });

  test("does not grow with the time that an append takes", async () => {
    const { clock, time } = startProcess();
    const moments: number[] = [];
    const through = (log: EventLog): EventLog => ({
      ...log,
      append: async (at, batch) => {
        moments.push(time.monotonic());
        await time.sleep(30);
        return await log.append(at, batch);
      },
    });
    const { writer } = startWriter({ clock, through });
    writer.write(begin);
    for (let at = 0; at < 1_000; at += 2) {
      writer.write(append("x"));
      await time.advance(2);
    }
    const closing = writer.close();
    await time.advance(100);
    await closing;

    // 30 ms for the answer, and at most a window of 8 ms until the next batch.
    const pauses = moments.slice(2).map((at, index) => at - (moments[index + 1] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(40);
  });
});

test("the machine's clock counts the time in which the event loop is not idle", async () => {
  await systemClock.sleep(5);
  const before = systemClock.busyMs?.() ?? NaN;
  const end = performance.now() + 30;
  while (performance.now() < end);
  await systemClock.sleep(1);

  expect((systemClock.busyMs?.() ?? NaN) - before).toBeGreaterThanOrEqual(25);
});
