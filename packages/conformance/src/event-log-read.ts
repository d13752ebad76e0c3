import type { Batch } from "@millrace/core/ports";
import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import {
  assertHeld,
  assertRefused,
  batchAt,
  epochOf,
  laneOf,
  logCase,
  nameOf,
  newUid,
  store,
} from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";

const one = epochOf(1);
const two = epochOf(2);

/** What a read returns after each position. */
export const readCases: readonly Case<EventLogFixture>[] = [
  logCase("a lane of 200 batches is read on from every position", async (log, uid) => {
    const lane = laneOf(one, 199);
    await store(log, uid, lane);

    for (let seq = 0; seq < 200; seq += 1) {
      await assertHeld(log, uid, lane.slice(seq + 1), { after: { epoch: one, seq } });
    }
  }),
  logCase("a position inside a batch is given that batch", async (log, uid) => {
    const threes = [3, 6, 9].map((last) => batchAt({ epoch: one, first: last - 2, last }));
    await store(log, uid, [batchAt({ epoch: one, first: 0 }), ...threes]);

    await assertHeld(log, uid, threes, { after: { epoch: one, seq: 0 } });
    await assertHeld(log, uid, threes, { after: { epoch: one, seq: 1 } });
    await assertHeld(log, uid, threes, { after: { epoch: one, seq: 2 } });
    await assertHeld(log, uid, threes.slice(1), { after: { epoch: one, seq: 3 } });
    await assertHeld(log, uid, threes.slice(1), { after: { epoch: one, seq: 4 } });
  }),
  logCase("a position of an earlier epoch is given all of the later one", async (log, uid) => {
    await store(log, uid, [...laneOf(one, 5), ...laneOf(two, 3)]);

    await assertHeld(log, uid, laneOf(two, 3), { after: { epoch: one, seq: 5 } });
    await assertHeld(log, uid, laneOf(two, 3), { after: { epoch: one, seq: 1_000 } });
    await assertHeld(log, uid, laneOf(two, 3).slice(2), { after: { epoch: two, seq: 1 } });
  }),
  logCase("an epoch that a reader skipped is not in its way", async (log, uid) => {
    const three = epochOf(3);
    await store(log, uid, [...laneOf(one, 2), ...laneOf(two, 2), ...laneOf(three, 2)]);

    const held = await log.read(uid, 0, { epoch: one, seq: 2 });

    assertEqual(held.slice(-3), laneOf(three, 2), "the newest epoch");
    assert(
      held.every((batch) => batch.epoch > one),
      "nothing of the epoch that was read",
    );
  }),
  logCase("the last position, and any above it, is given nothing", async (log, uid) => {
    await store(log, uid, laneOf(one, 4));

    await assertHeld(log, uid, [], { after: { epoch: one, seq: 4 } });
    await assertHeld(log, uid, [], { after: { epoch: one, seq: 5 } });
    await assertHeld(log, uid, [], { after: { epoch: two, seq: 0 } });
  }),
  logCase("a lane or session that is not there reads as empty", async (log, uid) => {
    await store(log, uid, laneOf(one, 1));

    await assertHeld(log, uid, [], { lane: 1 });
    await assertHeld(log, uid, [], { lane: 1, after: { epoch: one, seq: 0 } });
    await assertHeld(log, newUid(), []);
  }),
  logCase("reading changes nothing", async (log, uid) => {
    await store(log, uid, laneOf(one, 3));

    await log.read(uid, 0);
    await log.read(uid, 0, { epoch: one, seq: 2 });

    await assertHeld(log, uid, laneOf(one, 3));
  }),
  logCase("what a caller does to the list it read does not change the log", async (log, uid) => {
    await store(log, uid, laneOf(one, 3));

    const mine = (await log.read(uid, 0)) as Batch[];
    mine.splice(0, mine.length);

    await assertHeld(log, uid, laneOf(one, 3));
  }),
];

const bounded = { batchesPerLane: 50 };

/** A log may drop batches, but only from the beginning. */
export const retentionCases: readonly Case<EventLogFixture>[] = [
  logCase(
    "a long lane may begin late and has no hole inside",
    async (log, uid) => {
      const lane = laneOf(one, 500);
      for (const batch of lane) {
        await store(log, uid, [batch]);
        if (batch.last % 50 > 0) continue;
        const held = await log.read(uid, 0);
        assert(held.length > 0, "something is held");
        const expected = lane.slice(batch.last + 1 - held.length, batch.last + 1);
        assertEqual(held.map(nameOf), expected.map(nameOf), "an unbroken end of the lane");
      }
    },
    bounded,
  ),
  logCase(
    "a bounded lane does not grow for ever",
    async (log, uid) => {
      await store(log, uid, laneOf(one, 1_000));

      const held = await log.read(uid, 0);

      // Engines trim approximately, so this leaves a margin.
      assert(held.length <= 500, `${held.length} of 1,001 batches are held where 50 would do`);
    },
    bounded,
  ),
  logCase(
    "what a bounded lane has forgotten is a gap at the beginning",
    async (log, uid) => {
      const lane = laneOf(one, 300);
      await store(log, uid, lane);

      const held = await log.read(uid, 0);
      const late = await log.read(uid, 0, { epoch: one, seq: 3 });

      assertEqual(late, held.slice(held[0]?.last === 0 ? 4 : 0), "after position 3");
    },
    bounded,
  ),
  logCase(
    "a bounded lane keeps its newest batches whatever was dropped",
    async (log, uid) => {
      await store(log, uid, laneOf(one, 300));

      await assertHeld(log, uid, laneOf(one, 300).slice(296), { after: { epoch: one, seq: 295 } });
    },
    bounded,
  ),
  logCase(
    "the fence outlives what was dropped",
    async (log, uid) => {
      await store(log, uid, laneOf(two, 300));

      await assertRefused(log, uid, batchAt({ epoch: two, first: 10 }), { epoch: two, seq: 300 });
      await assertRefused(log, uid, batchAt({ epoch: one, first: 0, last: 900 }), {
        epoch: two,
        seq: 300,
      });
    },
    bounded,
  ),
];
