import { describe, expect, test } from "vitest";
import type { EventLog } from "../ports/event-log.ts";
import type { ManualClock } from "../reference/manual-clock.ts";
import { content } from "../testing/delta-programs.ts";
import { append, begin, drafted, id, startWriter, uid } from "../testing/lane-fixture.ts";
import type { LaneFixture, LaneFixtureOptions } from "../testing/lane-fixture.ts";

describe("the window", () => {
  /** A lane whose window does not follow the load. */
  const startFixed = (options: LaneFixtureOptions = {}): LaneFixture =>
    startWriter({ windowMs: 50, ...options });

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

  test("is as long as it is set while the lane is watched", async () => {
    const fixture = startFixed();
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.read();

    expect(await batchesIn(2_000, fixture)).toBe(40);
  });

  test("is no longer for a log that does not know whether the lane is watched", async () => {
    const through = (log: EventLog): EventLog => ({
      ...log,
      append: async (at, batch) => {
        const answer = await log.append(at, batch);
        return answer.outcome === "stored" ? { outcome: "stored" } : answer;
      },
    });
    const fixture = startFixed({ watched: false, through });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.read();

    expect(await batchesIn(2_000, fixture)).toBe(40);
  });

  test("is a second while the lane is not watched", async () => {
    const fixture = startFixed({ watched: false });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.read();

    expect(await batchesIn(10_000, fixture)).toBe(10);
  });

  test("does not delay the first text of a part or its end, though the lane is not watched", async () => {
    const { writer, read } = startFixed({ watched: false });
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
    const fixture = startFixed({ watched: false, through });
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
    const fixture = startFixed({ watched: false, through: oneLate });
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
    const fixture = startFixed({ watched: false, through });
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
    const fixture = startFixed({ watched: false, through: oneLate });
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
      const { writer, clock } = startFixed({ through });
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
    const fixture = startFixed();
    const { clock, writer } = fixture;
    const early = {
      ...clock,
      sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms - 2, signal),
    };
    await writer.close();
    const lane = startFixed({ clock: early });
    lane.writer.write(begin);
    lane.writer.write(append("a"));
    await clock.advance(0);

    expect(await batchesIn(2_000, { ...lane, clock })).toBe(40);
  });

  test("is no wider while the log is slow: a lane has one batch on its way, and none waits behind it", async () => {
    let underWay = 0;
    let most = 0;
    let slow = true;
    const through = (log: EventLog, clock: ManualClock): EventLog => ({
      ...log,
      append: async (at, batch) => {
        underWay += 1;
        most = Math.max(most, underWay);
        if (slow) await clock.sleep(40);
        underWay -= 1;
        return await log.append(at, batch);
      },
    });
    const fixture = startFixed({ through });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.clock.advance(120);

    // Of 40 windows the last one's batch is still on its way.
    expect(await batchesIn(2_000, fixture)).toBe(39);
    expect(most).toBe(1);
    slow = false;
    await fixture.clock.advance(40);
  });

  test("of a log with a least of 0 does not exist: what comes in one turn is one batch, at once", async () => {
    const window = { leastMs: 0, mostMs: 50 };
    const fixture = startWriter({ through: (log) => ({ ...log, window }) });
    const { writer, clock, count } = fixture;
    writer.write(begin);
    writer.write(append("a"));
    await fixture.read();

    const before = count.gathered;
    for (const letter of "bcdef") {
      writer.write(append(letter));
      writer.write(append(letter));
      await clock.advance(0);
    }
    expect(count.gathered - before).toBe(5);
  });

  test("of a log's own is a second too while the lane is not watched", async () => {
    const window = { leastMs: 0, mostMs: 50 };
    const fixture = startWriter({ watched: false, through: (log) => ({ ...log, window }) });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.clock.advance(2_000);

    expect(await batchesIn(10_000, fixture)).toBeLessThanOrEqual(11);
  });

  /** A log with a reader in this process, until it has left. */
  function nearby(log: EventLog, reader: { isNear: boolean }): EventLog {
    return {
      ...log,
      append: async (at, batch) => {
        const answer = await log.append(at, batch);
        return answer.outcome === "stored" && reader.isNear ? { ...answer, near: true } : answer;
      },
    };
  }

  test("does not exist for a reader in this process, and is back once it has left", async () => {
    const reader = { isNear: true };
    const fixture = startWriter({ through: (log) => nearby(log, reader) });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.read();

    const { writer, clock, count } = fixture;
    const batches = async (letters: string): Promise<number> => {
      const before = count.gathered;
      for (const letter of letters) {
        writer.write(append(letter));
        await clock.advance(1);
      }
      return count.gathered - before;
    };
    expect(await batches("abcdefghijklmnopqrstuvwxyz")).toBe(26);
    reader.isNear = false;
    await batches("z");
    expect(await batches("abcdefghijklmnopqrstuvwx")).toBe(3);
  });

  test.each([
    ["of the log", { window: { leastMs: 40, mostMs: 40 } }, {}],
    ["of the lane", {}, { windowMs: 40 }],
  ])("%s is kept for a reader in this process, if it is set", async (_, ofLog, ofLane) => {
    const through = (log: EventLog): EventLog => ({ ...nearby(log, { isNear: true }), ...ofLog });
    const fixture = startWriter({ through, ...ofLane });
    fixture.writer.write(begin);
    fixture.writer.write(append("a"));
    await fixture.read();

    expect(await batchesIn(2_000, fixture)).toBe(50);
  });
});
