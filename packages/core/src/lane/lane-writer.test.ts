import { expect, test } from "vitest";
import { apply } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import { emptyState, findLane } from "../event/state.ts";
import type { EventLog } from "../ports/event-log.ts";
import { manualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { content } from "../testing/delta-programs.ts";
import { append, begin, drafted, session, startWriter, uid } from "../testing/lane-fixture.ts";

test("the opening goes out at once, as number 0", async () => {
  const { read } = startWriter();

  expect((await read()).map(({ first, last, events }) => [first, last, events[0]?.type])).toEqual([
    [0, 0, "attempt_started"],
  ]);
});

test("the first text of a part goes out at once, what follows is gathered", async () => {
  const { writer, read, clock } = startWriter({ windowMs: 50 });
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
  const { writer, read } = startWriter({ windowMs: 10_000, windowSize: 10 });
  writer.write(begin);
  writer.write(append("a"));
  await read();

  writer.write(append("x".repeat(10)));

  expect((await read()).at(-1)).toMatchObject({ events: [{ delta: { chunk: "x".repeat(10) } }] });
});

test("numbers have no holes, and readers end with the writer's draft", async () => {
  const { writer, read, clock } = startWriter({ windowMs: 20 });
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
  const { writer, read } = startWriter();
  writer.write(begin);

  expect(writer.write(begin)?.code).toBe("part_exists");
  expect(writer.write(append("\ud83d"))?.code).toBe("malformed_text");
  expect(writer.write(append("fine"))).toBeUndefined();
  await writer.flush();
  expect(drafted(await read())).toBe(content(writer.draft()));
});

test("a lane that the log has lost is restated from 0", async () => {
  const { writer, read, log } = startWriter();
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
  const { writer, read, log, clock } = startWriter();
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

test("a long lane is restated as it doubles, so the log stays in proportion to the text", async () => {
  const { writer, read } = startWriter({ windowSize: 512 });
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
  const { writer, read, log, epoch } = startWriter();
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

test("an idle lane appends its position", async () => {
  const { read, clock } = startWriter({ idleMs: 15_000 });
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
  const { writer, clock } = startWriter({ log });
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

test("a reader that asks after the log was away is answered", async () => {
  const memory = memoryEventLog();
  let isDown = true;
  const log: EventLog = {
    ...memory,
    nudges: async (at, options) => {
      if (isDown) throw new Error("connection lost");
      return await memory.nudges(at, options);
    },
  };
  const { writer, clock } = startWriter({ log });
  writer.write(begin);
  writer.write(append("text"));
  await writer.flush();
  await clock.advance(60_000);
  isDown = false;
  await clock.advance(5_000);

  await memory.nudge(uid, { kind: "reseed", lane: 0 });

  await clock.advance(0);
  expect((await memory.read(uid, 0)).map(({ first }) => first)).toEqual([0]);
  await writer.close();
});

test("closing writes what is left, and ends even if the log is gone for good", async () => {
  const gone = { ...memoryEventLog(), append: async () => Promise.reject(new Error("gone")) };
  const { writer } = startWriter({ log: gone });
  writer.write(begin);
  writer.write(append("text"));

  await writer.close();

  expect(writer.draft().parts).toHaveLength(1);
});

test("progress and stalls reach the reader with the text", async () => {
  const { writer, read } = startWriter();
  writer.write(begin);
  writer.publish({ type: "stalled", silentMs: 5_000 });
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

test("a wall clock that is set back by an hour changes no window, idle sign or restatement", async () => {
  const appended = async (jumps: boolean): Promise<readonly (readonly [number, number])[]> => {
    const clock = manualClock(10_000_000);
    let back = 0;
    const jumping = { ...clock, now: () => clock.now() - back };
    const { window: _, ...memory } = memoryEventLog();
    const seen: (readonly [number, number])[] = [];
    const log: EventLog = {
      ...memory,
      append: (of, batch) => {
        seen.push([clock.monotonic(), batch.first]);
        return memory.append(of, batch);
      },
    };
    const { writer } = startWriter({ clock: jumping, log, windowMs: 50 });
    await clock.advance(100);
    writer.write(begin);
    writer.write(append("a"));
    writer.write(append("b"));
    await clock.advance(100);
    await memory.nudge(uid, { kind: "reseed", lane: 0 });
    await clock.advance(10);
    back = jumps ? 3_600_000 : 0;
    await clock.advance(2_000);
    await memory.nudge(uid, { kind: "reseed", lane: 0 });
    await clock.advance(40_000);
    return seen;
  };

  expect(await appended(true)).toEqual(await appended(false));
  expect((await appended(true)).length).toBeGreaterThan(5);
});

test("a log that does not answer holds up the end of a lane for a quarter of a second", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { writer, clock } = startWriter({
    through: (log) => ({
      ...log,
      append: async (at, batch) => {
        await answered;
        return await log.append(at, batch);
      },
    }),
  });
  writer.write(begin);
  writer.write(append("text"));

  let closed = false;
  const closing = writer.close().then(() => (closed = true));
  await clock.advance(200);
  expect(closed).toBe(false);
  await clock.advance(50);
  const inTime = closed;
  answer();
  await closing;

  expect(inTime).toBe(true);
});
