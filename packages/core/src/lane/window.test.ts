import { describe, expect, test } from "vitest";
import type { EventLog } from "../ports/event-log.ts";
import type { ManualClock } from "../reference/manual-clock.ts";
import { content } from "../testing/delta-programs.ts";
import { append, begin, drafted, id, startWriter, uid } from "../testing/lane-fixture.ts";
import type { LaneFixture } from "../testing/lane-fixture.ts";

describe("the window", () => {
  /** Writes a letter every 10 ms and counts the batches. */
  async function batchesIn(ms: number, { writer, clock, count }: LaneFixture) {
    const before = count.gathered;
    for (let at = 0; at < ms; at += 10) {
      writer.write(append("x"));
      await clock.advance(10);
    }
    return count.gathered - before;
  }

  /** A log that learns only after its answer whether a batch had a subscriber. */
  function oneLate(log: EventLog): EventLog {
    let known: boolean | undefined;
    return {
      ...log,
      append: async (at, batch) => {
        const answer = await log.append(at, batch);
        if (answer.outcome !== "stored") return answer;
        const told = known;
        known = answer.watched;
        return told === undefined ? { outcome: "stored" } : { outcome: "stored", watched: told };
      },
    };
  }

  test("is 50 ms while the lane is watched", async () => {
    const fixture = startWriter();
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.read();

    expect(await batchesIn(2_000, fixture)).toBe(40);
  });

  test("is 50 ms for a log that does not know whether the lane is watched", async () => {
    const through = (log: EventLog): EventLog => ({
      ...log,
      append: async (at, batch) => {
        const answer = await log.append(at, batch);
        return answer.outcome === "stored" ? { outcome: "stored" } : answer;
      },
    });
    const fixture = startWriter({ watched: false, through });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.read();

    expect(await batchesIn(2_000, fixture)).toBe(40);
  });

  test("is a second while the lane is not watched", async () => {
    const fixture = startWriter({ watched: false });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.read();

    expect(await batchesIn(10_000, fixture)).toBe(10);
  });

  test("does not delay the first text of a part or its end, though the lane is not watched", async () => {
    const { writer, read } = startWriter({ watched: false });
    const last = async () => (await read()).at(-1)?.last;
    await read();

    writer.write(begin);
    writer.write(append("a"));
    expect(await last()).toBe(2);
    writer.write(append("b"));
    expect(await last()).toBe(2);
    writer.write({ op: "commit_part", partId: id, part: { kind: "text", id, text: "ab" } });
    expect(await last()).toBe(4);
  });

  test.each([
    ["at once", (log: EventLog) => log],
    ["an append later", oneLate],
  ])("ends for who comes, and is short from then on, if the log knows %s", async (_, through) => {
    const fixture = startWriter({ watched: false, through });
    const { writer, clock, log, read } = fixture;
    writer.write(begin);
    writer.write(append("a"));
    await clock.advance(1_000);
    await batchesIn(2_500, fixture);
    const waiting = drafted(await read());

    await log.tail(uid);
    await log.nudge(uid, { kind: "wake" });

    const shown = drafted(await read());
    expect(shown).toBe(content(writer.draft()));
    expect(shown.length).toBeGreaterThan(waiting.length);
    expect(await batchesIn(2_000, fixture)).toBe(40);
  });

  test("is short for a watcher that comes while there is nothing to write", async () => {
    const fixture = startWriter({ watched: false, through: oneLate });
    const { writer, clock, log } = fixture;
    writer.write(begin);
    writer.write(append("a"));
    await clock.advance(3_000);

    await log.tail(uid);
    await log.nudge(uid, { kind: "wake" });
    await clock.advance(5_000);

    expect(await batchesIn(1_000, fixture)).toBe(20);
  });

  test("is short for a watcher that comes while a batch is on its way", async () => {
    let away = true;
    const through = (log: EventLog, clock: ManualClock): EventLog => {
      const late = oneLate(log);
      return {
        ...log,
        append: async (at, batch) => {
          const answer = await late.append(at, batch);
          if (away) await clock.sleep(10);
          return answer;
        },
      };
    };
    const fixture = startWriter({ watched: false, through });
    const { writer, clock, log } = fixture;
    writer.write(begin);
    writer.write(append("a"));
    await clock.advance(1_000);
    await batchesIn(2_000, fixture);
    void writer.flush();
    await clock.advance(5);

    await log.tail(uid);
    await log.nudge(uid, { kind: "wake" });

    expect(await batchesIn(1_200, fixture)).toBeGreaterThanOrEqual(19);
    away = false;
    await clock.advance(10);
  });

  test("is long again once the last watcher has left", async () => {
    const fixture = startWriter({ watched: false, through: oneLate });
    const { writer, log } = fixture;
    const leave = new AbortController();
    await log.tail(uid, { signal: leave.signal });
    await log.nudge(uid, { kind: "wake" });
    writer.write(begin);
    writer.write(append("a"));
    expect(await batchesIn(1_000, fixture)).toBeGreaterThan(15);

    leave.abort();

    await batchesIn(1_000, fixture);
    expect(await batchesIn(10_000, fixture)).toBe(10);
  });

  test("ends at a multiple of its length, so that lanes that began at different times append together", async () => {
    const moments: number[] = [];
    const through = (log: EventLog, clock: ManualClock): EventLog => ({
      ...log,
      append: (at, batch) => {
        if (batch.first > 2) moments.push(clock.monotonic());
        return log.append(at, batch);
      },
    });
    for (const offset of [0, 7, 33]) {
      const { writer, clock } = startWriter({ through });
      await clock.advance(offset);
      writer.write(begin);
      writer.write(append("a"));
      for (let at = 0; at < 400; at += 9) {
        writer.write(append("x"));
        await clock.advance(9);
      }
    }

    expect(moments.length).toBeGreaterThanOrEqual(21);
    expect(moments.filter((at) => at % 50 !== 0)).toEqual([]);
  });

  test("does not end twice when its timer fires a little too early", async () => {
    const fixture = startWriter();
    const { clock, writer } = fixture;
    const early = {
      ...clock,
      sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms - 2, signal),
    };
    await writer.close();
    const lane = startWriter({ clock: early });
    lane.writer.write(begin);
    lane.writer.write(append("a"));
    await clock.advance(0);

    expect(await batchesIn(2_000, { ...lane, clock })).toBe(40);
  });

  test("is wider while the log is slow, and no wider than 200 ms", async () => {
    const slowBy = async (ms: number): Promise<number> => {
      let slow = true;
      const through = (log: EventLog, clock: ManualClock): EventLog => ({
        ...log,
        append: async (at, batch) => {
          if (slow) await clock.sleep(ms);
          return await log.append(at, batch);
        },
      });
      const fixture = startWriter({ through });
      fixture.writer.write(begin);
      fixture.writer.write(append("a"));
      await fixture.clock.advance(3 * ms);
      const batches = await batchesIn(20_000, fixture);
      slow = false;
      await fixture.clock.advance(ms);
      return Math.round(20_000 / batches / 10) * 10;
    };

    expect(await slowBy(10)).toBe(50);
    expect(await slowBy(20)).toBe(50);
    expect(await slowBy(30)).toBe(150);
    expect(await slowBy(100)).toBe(200);
    // The next window ends after the answer to the batch before.
    expect(await slowBy(500)).toBeLessThanOrEqual(500 + 220);
  });

  test("is short again after two quick answers of a log that was slow", async () => {
    let slow = true;
    const through = (log: EventLog, clock: ManualClock): EventLog => ({
      ...log,
      append: async (at, batch) => {
        if (slow) await clock.sleep(3_000);
        return await log.append(at, batch);
      },
    });
    const fixture = startWriter({ through });
    fixture.writer.write(begin);
    await batchesIn(10_000, fixture);
    slow = false;
    await fixture.clock.advance(3_000);

    // Two windows of up to 200 ms, then short ones.
    await batchesIn(400, fixture);

    expect(await batchesIn(1_000, fixture)).toBe(20);
  });

  test("is short again once the log is quick again", async () => {
    let slow = true;
    const through = (log: EventLog, clock: ManualClock): EventLog => ({
      ...log,
      append: async (at, batch) => {
        if (slow) await clock.sleep(40);
        return await log.append(at, batch);
      },
    });
    const fixture = startWriter({ through });
    fixture.writer.write(begin);
    await batchesIn(2_000, fixture);
    slow = false;

    await batchesIn(20_000, fixture);

    expect(await batchesIn(2_000, fixture)).toBe(40);
  });

  test("of a log's own begins with the last batch: what comes later is written at once", async () => {
    const fixture = startWriter({ through: (log) => ({ ...log, windowMs: 10 }) });
    const { writer, clock, count } = fixture;
    writer.write(begin);
    writer.write(append("a"));
    await fixture.read();
    await clock.advance(10);

    const before = count.gathered;
    writer.write(append("b"));
    await clock.advance(0);
    expect(count.gathered - before).toBe(1);

    for (const letter of "cdefg") {
      writer.write(append(letter));
      await clock.advance(1);
    }
    expect(count.gathered - before).toBe(1);
    await clock.advance(5);
    expect(count.gathered - before).toBe(2);
  });

  test("of a log's own is a second too while the lane is not watched", async () => {
    const fixture = startWriter({ watched: false, through: (log) => ({ ...log, windowMs: 1 }) });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.clock.advance(2_000);

    expect(await batchesIn(10_000, fixture)).toBeLessThanOrEqual(11);
  });
});
