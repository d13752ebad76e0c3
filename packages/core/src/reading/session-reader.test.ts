import { expect, test } from "vitest";
import type { Batch } from "../event/batch.ts";
import { packEpoch } from "../event/epoch.ts";
import { schemaVersion } from "../event/event.ts";
import { itemId, runId, sessionId, turnId } from "../ids.ts";
import { manualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";
import { follow } from "./follow.ts";

const name = sessionId("s");

/** A batch whose lane has no beginning, of a writer that the store does not know. */
function forgedBatch(lane: number): Batch {
  return {
    v: schemaVersion,
    sessionId: name,
    runId: runId("r"),
    turnId: turnId("t"),
    itemId: itemId("i"),
    lane,
    epoch: packEpoch({ incarnation: 9, generation: 1, attempt: 1 }),
    first: 5,
    last: 5,
    head: 1_000_000,
    time: 0,
    events: [{ type: "lane_idled" }],
  };
}

test("a reader asks for at most 1,024 lanes a second, whatever lanes forged batches name", async () => {
  const clock = manualClock();
  const store = memorySessionStore({ clock });
  const memory = memoryEventLog();
  const { uid } = await store.create({ sessionId: name });
  await store.claim(uid, { from: 0 });
  const asked: number[] = [];
  const log: typeof memory = {
    ...memory,
    tail: async () =>
      (async function* () {
        for (let lane = 0; lane < 3_000; lane += 1) yield forgedBatch(lane);
        await clock.advance(1_000);
        for (let lane = 3_000; lane < 6_000; lane += 1) yield forgedBatch(lane);
      })(),
    nudge: async (_, nudge) => {
      if (nudge.kind === "reseed") asked.push(nudge.lane);
      return undefined;
    },
  };

  const seen: number[] = [];
  for await (const { cursor } of follow({ store, log, clock, uid, sessionId: name }))
    seen.push(cursor.head);

  expect(seen).toEqual([1]);
  expect(asked.length).toBeLessThanOrEqual(2 * 1_024);
  expect(new Set(asked).size).toBe(asked.length);
});

test("a wall clock that is set back by an hour delays no request for a lane", async () => {
  const clock = manualClock(10_000_000);
  let back = 0;
  const jumping = { ...clock, now: () => clock.now() - back };
  const store = memorySessionStore({ clock });
  const memory = memoryEventLog();
  const { uid } = await store.create({ sessionId: name });
  const asked: number[] = [];
  const log: typeof memory = {
    ...memory,
    tail: async () =>
      (async function* () {
        yield forgedBatch(1);
        back = 3_600_000;
        await clock.advance(1_000);
        yield forgedBatch(1);
      })(),
    nudge: async (_, nudge) => {
      if (nudge.kind === "reseed") asked.push(clock.monotonic());
      return undefined;
    },
  };
  for await (const _ of follow({ store, log, clock: jumping, uid, sessionId: name })) continue;

  expect(asked).toEqual([0, 1_000]);
});
