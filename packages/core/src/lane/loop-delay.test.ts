import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { EventLog } from "../ports/event-log.ts";
import { systemClock } from "../reference/system.ts";
import { append, begin, startWriter } from "../testing/lane-fixture.ts";
import type { LaneFixture } from "../testing/lane-fixture.ts";

/** A log on another machine, that answers after so long. */
function remote(ms: number): (log: EventLog) => EventLog {
  return (log) => ({
    ...log,
    append: async (at, batch) => {
      await sleep(ms);
      return await log.append(at, batch);
    },
  });
}

/** Keeps the event loop busy. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Batches within a second of real time, of deltas that come every 5 ms. */
async function batchesInSecond({ writer, count }: LaneFixture): Promise<number> {
  const before = count.gathered;
  const end = performance.now() + 1_000;
  while (performance.now() < end) {
    writer.write(append("x"));
    await sleep(5);
  }
  return count.gathered - before;
}

describe("the window in real time", () => {
  test("is not wider because the event loop was busy while the log answered", async () => {
    const fixture = startWriter({ clock: systemClock, through: remote(2) });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await sleep(20);
    for (let count = 0; count < 5; count += 1) {
      fixture.writer.write(append("b"));
      void fixture.writer.flush();
      await sleep(0);
      block(200);
      await sleep(1);
    }

    // 20 windows of 50 ms. A busy machine may lose some; with 200 ms there are 5.
    expect(await batchesInSecond(fixture)).toBeGreaterThanOrEqual(12);
  });

  test("is wider because the log is slow, though the event loop is busy as well", async () => {
    const fixture = startWriter({ clock: systemClock, through: remote(80) });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await sleep(200);
    const blocking = setInterval(() => block(5), 20);

    const batches = await batchesInSecond(fixture);

    clearInterval(blocking);
    expect(batches).toBeLessThanOrEqual(6);
  });
});
