import { afterEach, describe, expect, test } from "vitest";
import type { Delta } from "../delta/delta.ts";
import { apply } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import { packEpoch } from "../event/epoch.ts";
import { emptyState, findLane } from "../event/state.ts";
import { itemId, partId, runId, sessionId, sessionUid, turnId } from "../ids.ts";
import type { EventLog } from "../ports/event-log.ts";
import { manualClock } from "../reference/manual-clock.ts";
import type { ManualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import type { MemoryEventLog } from "../reference/memory-event-log.ts";
import { content } from "../testing/delta-programs.ts";
import { createLaneWriter } from "./lane-writer.ts";
import type { LaneWriter, LaneWriterOptions } from "./lane-writer.ts";

const uid = sessionUid("u");
const session = sessionId("s");
const id = partId("p1");
const begin: Delta = { op: "begin_part", partId: id, kind: "text" };
const open: LaneWriter[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((writer) => writer.close()));
});

function append(chunk: string): Delta {
  return { op: "append_text", partId: id, chunk };
}

interface Setting extends Partial<LaneWriterOptions> {
  readonly attempt?: number;
  /** Whether somebody is there from the beginning. */
  readonly watched?: boolean;
  /** Changes the log as the writer has it. */
  readonly through?: (log: EventLog, clock: ManualClock) => EventLog;
}

function start(more: Setting = {}) {
  const clock = manualClock();
  const held = memoryEventLog();
  /** Batches that were gathered: a lane is said whole without waiting for a window. */
  const count = { gathered: 0 };
  const memory: MemoryEventLog = {
    ...held,
    append: (at, batch) => {
      if (batch.first > 0) count.gathered += 1;
      return held.append(at, batch);
    },
  };
  const { attempt = 1, watched = true, through, ...options } = more;
  const { log = through?.(memory, clock) ?? memory } = more;
  if (watched) void memory.tail(uid);
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt });
  const ids = {
    uid,
    sessionId: session,
    runId: runId("r"),
    turnId: turnId("t"),
    itemId: itemId("i"),
  };
  const writer = createLaneWriter({
    clock,
    ...ids,
    lane: 0,
    epoch,
    head: 0,
    author: "model",
    ...options,
    log,
  });
  open.push(writer);
  const read = async (): Promise<readonly Batch[]> => {
    await clock.advance(0);
    return await memory.read(uid, 0);
  };
  return { clock, log: memory, writer, read, epoch, count };
}

/** What a reader makes of the batches. */
function drafted(batches: readonly Batch[]): string {
  const state = batches.reduce(
    (current, batch) => apply(current, batch).state,
    emptyState(uid, session),
  );
  const lane = findLane(state, 0);
  return lane === undefined ? "" : content(lane.draft);
}

test("the opening goes out at once, as number 0", async () => {
  const { read } = start();

  expect((await read()).map(({ first, last, events }) => [first, last, events[0]?.type])).toEqual([
    [0, 0, "attempt_started"],
  ]);
});

test("the first text of a part goes out at once, what follows is gathered", async () => {
  const { writer, read, clock } = start({ windowMs: 50 });
  await read();

  writer.write(begin);
  writer.write(append("a"));
  expect((await read()).at(-1)?.last).toBe(2);

  writer.write(append("b"));
  writer.write(append("c"));
  expect((await read()).at(-1)?.last).toBe(2);

  await clock.advance(50);
  const last = (await read()).at(-1);
  expect(last).toMatchObject({ first: 3, last: 3, events: [{ delta: { chunk: "bc" } }] });
});

test("much text does not wait for the window", async () => {
  const { writer, read } = start({ windowMs: 10_000, windowSize: 10 });
  writer.write(begin);
  writer.write(append("a"));
  await read();

  writer.write(append("x".repeat(10)));

  expect((await read()).at(-1)).toMatchObject({ events: [{ delta: { chunk: "x".repeat(10) } }] });
});

test("numbers have no holes, and readers end with the writer's draft", async () => {
  const { writer, read, clock } = start({ windowMs: 20 });
  writer.write(begin);
  for (const letter of "Every viewer sees every token once and in order") {
    writer.write(append(letter));
    await clock.advance(7);
  }
  await writer.flush();
  const batches = await read();

  for (const [at, batch] of batches.entries())
    expect(batch.first).toBe(at === 0 ? 0 : (batches[at - 1]?.last ?? 0) + 1);
  expect(batches.length).toBeLessThan(30);
  expect(drafted(batches)).toBe(content(writer.draft()));
});

test("an illegal delta is refused with its fault and not written", async () => {
  const { writer, read } = start();
  writer.write(begin);

  expect(writer.write(begin)?.code).toBe("part_exists");
  expect(writer.write(append("\ud83d"))?.code).toBe("malformed_text");
  expect(writer.write(append("fine"))).toBeUndefined();
  await writer.flush();
  expect(drafted(await read())).toBe(content(writer.draft()));
});

test("a lane that the log has lost is said again from 0", async () => {
  const { writer, read, log } = start();
  writer.write(begin);
  writer.write(append("before"));
  await writer.flush();
  log.lose(uid);

  writer.write(append(" and after"));
  await writer.flush();

  const batches = await read();
  expect(batches[0]?.first).toBe(0);
  expect(drafted(batches)).toBe(content(writer.draft()));
});

test("a reader that asks is answered with the whole lane, at most once a second", async () => {
  const { writer, read, log, clock } = start();
  writer.write(begin);
  writer.write(append("text"));
  await writer.flush();

  await log.nudge(uid, { kind: "reseed", lane: 0 });
  await read();
  await log.nudge(uid, { kind: "reseed", lane: 0 });
  const once = await read();
  expect(once.map(({ first, last }) => [first, last])).toEqual([[0, 3]]);
  expect(drafted(once)).toBe(content(writer.draft()));

  await clock.advance(1_000);
  await log.nudge(uid, { kind: "reseed", lane: 0 });
  expect((await read()).map(({ first, last }) => [first, last])).toEqual([[0, 4]]);
  await log.nudge(uid, { kind: "reseed", lane: 7 });
  expect((await read()).at(-1)?.last).toBe(4);
});

test("a long lane is said anew as it doubles, so the log stays in proportion to the text", async () => {
  const { writer, read } = start({ windowSize: 512 });
  let longest = 0;
  let restated = 0;
  writer.write(begin);
  for (let count = 0; count < 400; count += 1) {
    writer.write(append("x".repeat(512)));
    await writer.flush();
    const batches = await read();
    longest = Math.max(longest, batches.length);
    if (batches.length === 1) restated += 1;
  }

  expect(longest).toBeLessThanOrEqual(400 / 2 + 2);
  expect(restated).toBeGreaterThanOrEqual(3);
  expect(restated).toBeLessThan(12);
  expect(drafted(await read())).toBe(content(writer.draft()));
});

test("a writer is fenced by a higher epoch and goes silent", async () => {
  const { writer, read, log, epoch } = start();
  writer.write(begin);
  await writer.flush();
  const [batch] = await read();
  await log.append(uid, {
    ...(batch as Batch),
    epoch: epoch + 1,
    first: 0,
    last: 0,
    events: [{ type: "attempt_started", author: "model" }],
  });

  writer.write(append("from the grave"));
  await writer.flush();

  expect(writer.fenced.aborted).toBe(true);
  expect((await read()).every((kept) => kept.epoch === epoch + 1)).toBe(true);
  expect(writer.write(append("more"))).toBeUndefined();
});

test("a silent lane says where it is", async () => {
  const { read, clock } = start({ idleMs: 15_000 });
  await read();

  await clock.advance(15_000);
  await clock.advance(15_000);

  expect((await read()).map(({ last, events }) => [last, events[0]?.type])).toEqual([
    [0, "attempt_started"],
    [1, "lane_idled"],
    [2, "lane_idled"],
  ]);
});

test("a log that fails does not stop the writer, and gets everything once it is back", async () => {
  const memory = memoryEventLog();
  let down = false;
  const log: EventLog = {
    ...memory,
    append: async (at, batch) => {
      if (down) throw new Error("connection lost");
      return await memory.append(at, batch);
    },
  };
  const { writer, clock } = start({ log });
  writer.write(begin);
  await writer.flush();
  down = true;
  writer.write(append("while away"));
  await writer.flush(); // settles: there is nothing to wait for
  down = false;
  writer.write(append(", and back"));

  await clock.advance(2_000);
  const batches = await memory.read(uid, 0);
  expect(drafted(batches)).toBe(content(writer.draft()));
});

test("closing writes what is left, and ends even if the log is gone for good", async () => {
  const gone = { ...memoryEventLog(), append: async () => Promise.reject(new Error("gone")) };
  const { writer } = start({ log: gone });
  writer.write(begin);
  writer.write(append("text"));

  await writer.close();

  expect(writer.draft().parts).toHaveLength(1);
});

test("progress and stalls reach the reader with the text", async () => {
  const { writer, read } = start();
  writer.write(begin);
  writer.tell({ type: "stalled", silentMs: 5_000 });
  await writer.flush();
  const stalled = (await read()).reduce(
    (state, batch) => apply(state, batch).state,
    emptyState(uid, session),
  );
  expect(findLane(stalled, 0)?.stalledMs).toBe(5_000);

  writer.write(append("moving again"));
  await writer.flush();
  const moving = (await read()).reduce(
    (state, batch) => apply(state, batch).state,
    emptyState(uid, session),
  );
  expect(findLane(moving, 0)?.stalledMs).toBeUndefined();
});

describe("the window", () => {
  /** Writes a letter every 10 ms and counts the batches. */
  async function batchesIn(ms: number, { writer, clock, count }: ReturnType<typeof start>) {
    const before = count.gathered;
    for (let at = 0; at < ms; at += 10) {
      writer.write(append("x"));
      await clock.advance(10);
    }
    return count.gathered - before;
  }

  /** As a log that learns only afterwards who heard a batch. */
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

  test("is 50 ms while somebody watches", async () => {
    const stage = start();
    stage.writer.write(begin);
    stage.writer.write(append("a"));
    await stage.read();

    expect(await batchesIn(2_000, stage)).toBe(40);
  });

  test("is 50 ms for a log that can't tell whether anybody watches", async () => {
    const through = (log: EventLog): EventLog => ({
      ...log,
      append: async (at, batch) => {
        const answer = await log.append(at, batch);
        return answer.outcome === "stored" ? { outcome: "stored" } : answer;
      },
    });
    const stage = start({ watched: false, through });
    stage.writer.write(begin);
    stage.writer.write(append("a"));
    await stage.read();

    expect(await batchesIn(2_000, stage)).toBe(40);
  });

  test("is a second while nobody watches", async () => {
    const stage = start({ watched: false });
    stage.writer.write(begin);
    stage.writer.write(append("a"));
    await stage.read();

    expect(await batchesIn(10_000, stage)).toBe(10);
  });

  test("does not hold up the first text of a part or its end, though nobody watches", async () => {
    const { writer, read } = start({ watched: false });
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
    const stage = start({ watched: false, through });
    const { writer, clock, log, read } = stage;
    writer.write(begin);
    writer.write(append("a"));
    await clock.advance(1_000);
    await batchesIn(2_500, stage);
    const waiting = drafted(await read());

    await log.tail(uid);
    await log.nudge(uid, { kind: "wake" });

    const shown = drafted(await read());
    expect(shown).toBe(content(writer.draft()));
    expect(shown.length).toBeGreaterThan(waiting.length);
    expect(await batchesIn(2_000, stage)).toBe(40);
  });

  test("is short for who comes while there is nothing to say", async () => {
    const stage = start({ watched: false, through: oneLate });
    const { writer, clock, log } = stage;
    writer.write(begin);
    writer.write(append("a"));
    await clock.advance(3_000);

    await log.tail(uid);
    await log.nudge(uid, { kind: "wake" });
    await clock.advance(5_000);

    expect(await batchesIn(1_000, stage)).toBe(20);
  });

  test("is short for who comes while a batch is on its way", async () => {
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
    const stage = start({ watched: false, through });
    const { writer, clock, log } = stage;
    writer.write(begin);
    writer.write(append("a"));
    await clock.advance(1_000);
    await batchesIn(2_000, stage);
    void writer.flush();
    await clock.advance(5);

    await log.tail(uid);
    await log.nudge(uid, { kind: "wake" });

    expect(await batchesIn(1_200, stage)).toBeGreaterThanOrEqual(19);
    away = false;
    await clock.advance(10);
  });

  test("is long again once whoever watched has left", async () => {
    const stage = start({ watched: false, through: oneLate });
    const { writer, log } = stage;
    const leave = new AbortController();
    await log.tail(uid, { signal: leave.signal });
    await log.nudge(uid, { kind: "wake" });
    writer.write(begin);
    writer.write(append("a"));
    expect(await batchesIn(1_000, stage)).toBeGreaterThan(15);

    leave.abort();

    await batchesIn(1_000, stage);
    expect(await batchesIn(10_000, stage)).toBe(10);
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
      const stage = start({ through });
      stage.writer.write(begin);
      stage.writer.write(append("a"));
      await stage.clock.advance(3 * ms);
      const batches = await batchesIn(20_000, stage);
      slow = false;
      await stage.clock.advance(ms);
      // Gathering begins when the answer is there, so a batch takes both.
      return Math.round((20_000 / batches - ms) / 10) * 10;
    };

    expect(await slowBy(10)).toBe(50);
    expect(await slowBy(20)).toBe(50);
    expect(await slowBy(30)).toBe(150);
    expect(await slowBy(100)).toBe(200);
    expect(await slowBy(500)).toBeLessThanOrEqual(220);
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
    const stage = start({ through });
    stage.writer.write(begin);
    await batchesIn(2_000, stage);
    slow = false;

    await batchesIn(20_000, stage);

    expect(await batchesIn(2_000, stage)).toBe(40);
  });
});
