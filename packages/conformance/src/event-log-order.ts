import { packEpoch } from "@millrace/core/ports";
import type { Case } from "./case.ts";
import { assertEqual, assertOutcome, assertRejects } from "./case.ts";
import {
  assertHeld,
  assertRefused,
  batchAt,
  epochOf,
  laneOf,
  logCase,
  store,
} from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";
import { tailSession } from "./event-log-received.ts";

const one = epochOf(1);
const two = epochOf(2);

/** The order of a lane is its fence: only a batch above the last one is stored. */
export const orderCases: readonly Case<EventLogFixture>[] = [
  logCase("an opening is stored and read back", async (log, uid) => {
    await store(log, uid, [batchAt({ epoch: one, first: 0 })]);

    await assertHeld(log, uid, [batchAt({ epoch: one, first: 0 })]);
  }),
  logCase("batches of one epoch are read in the order of their numbers", async (log, uid) => {
    await store(log, uid, laneOf(one, 12));

    await assertHeld(log, uid, laneOf(one, 12));
  }),
  logCase("the same batch again is refused with the last position", async (log, uid) => {
    await store(log, uid, laneOf(one, 3));

    await assertRefused(log, uid, batchAt({ epoch: one, first: 3 }), { epoch: one, seq: 3 });
    await assertHeld(log, uid, laneOf(one, 3));
  }),
  logCase("a batch below the last one of its epoch is refused", async (log, uid) => {
    await store(log, uid, laneOf(one, 5));

    await assertRefused(log, uid, batchAt({ epoch: one, first: 2 }), { epoch: one, seq: 5 });
  }),
  logCase("an opening sent twice is refused the second time", async (log, uid) => {
    await store(log, uid, laneOf(one, 0));

    await assertRefused(log, uid, batchAt({ epoch: one, first: 0 }), { epoch: one, seq: 0 });
  }),
  logCase("a lower epoch is refused with the position of the higher one", async (log, uid) => {
    await store(log, uid, [...laneOf(one, 3), ...laneOf(two, 1)]);

    await assertRefused(log, uid, batchAt({ epoch: one, first: 4 }), { epoch: two, seq: 1 });
  }),
  logCase("a lower epoch is refused from 0 too", async (log, uid) => {
    await store(log, uid, laneOf(two, 1));

    await assertRefused(log, uid, batchAt({ epoch: one, first: 0, last: 9 }), {
      epoch: two,
      seq: 1,
    });
  }),
  logCase("a higher epoch begins at 0 above a lower one's number", async (log, uid) => {
    await store(log, uid, [...laneOf(one, 9), ...laneOf(two, 2)]);

    await assertHeld(log, uid, laneOf(two, 2), { after: { epoch: one, seq: 9 } });
  }),
  logCase("a later attempt of the same generation fences the earlier one", async (log, uid) => {
    const first = epochOf(7, 1);
    const second = epochOf(7, 2);
    await store(log, uid, [...laneOf(first, 2), ...laneOf(second, 0)]);

    await assertRefused(log, uid, batchAt({ epoch: first, first: 3 }), { epoch: second, seq: 0 });
  }),
  logCase("the fence survives a batch from 0", async (log, uid) => {
    const reseed = batchAt({ epoch: two, first: 0, last: 5 });
    await store(log, uid, [...laneOf(one, 2), ...laneOf(two, 4), reseed]);

    await assertRefused(log, uid, batchAt({ epoch: two, first: 5 }), { epoch: two, seq: 5 });
    await assertRefused(log, uid, batchAt({ epoch: one, first: 0, last: 7 }), {
      epoch: two,
      seq: 5,
    });
  }),
  logCase("a refused batch is neither kept nor announced", async (log, uid) => {
    await store(log, uid, laneOf(two, 1));
    using received = await tailSession(log, uid);

    await assertRefused(log, uid, batchAt({ epoch: one, first: 0 }), { epoch: two, seq: 1 });
    await store(log, uid, [batchAt({ epoch: two, first: 2 })]);

    assertEqual(await received.until(1), [batchAt({ epoch: two, first: 2 })], "what was announced");
    await assertHeld(log, uid, laneOf(two, 2));
  }),
  logCase(
    "a batch that skips numbers is stored: gaps are the readers' to see",
    async (log, uid) => {
      const late = batchAt({ epoch: one, first: 7, last: 9 });
      await store(log, uid, [...laneOf(one, 1), late]);

      await assertHeld(log, uid, [...laneOf(one, 1), late]);
    },
  ),
  logCase("numbers are compared as numbers, not as text", async (log, uid) => {
    const nine = packEpoch({ incarnation: 0, generation: 0, attempt: 9 });
    const ten = packEpoch({ incarnation: 0, generation: 0, attempt: 10 });
    await store(log, uid, [...laneOf(nine, 101), ...laneOf(ten, 11)]);

    await assertHeld(log, uid, laneOf(ten, 11), { after: { epoch: nine, seq: 101 } });
    await assertRefused(log, uid, batchAt({ epoch: nine, first: 102 }), { epoch: ten, seq: 11 });
  }),
  logCase("the highest epochs keep their order", async (log, uid) => {
    const most = { incarnation: 2 ** 23 - 1, generation: 2 ** 18 - 1 };
    const highest = packEpoch({ ...most, attempt: 2 ** 12 - 1 });
    const below = packEpoch({ ...most, attempt: 2 ** 12 - 2 });
    await store(log, uid, [...laneOf(below, 1), ...laneOf(highest, 1)]);

    await assertHeld(log, uid, laneOf(highest, 1), { after: { epoch: below, seq: 1 } });
    await assertRefused(log, uid, batchAt({ epoch: below, first: 2 }), { epoch: highest, seq: 1 });
  }),
  logCase("a batch without events is an invalid event", async (log, uid) => {
    const empty = batchAt({ epoch: one, first: 0, events: [] });

    await assertRejects(() => log.append(uid, empty), "invalid_event", "a batch without events");
    await assertHeld(log, uid, []);
  }),
  logCase("a batch from 0 that does not open its lane is an invalid event", async (log, uid) => {
    const headless = batchAt({ epoch: one, first: 0, events: [{ type: "lane_idled" }] });

    await assertRejects(() => log.append(uid, headless), "invalid_event", "no opening");
    await assertHeld(log, uid, []);
  }),
  logCase("a batch that ends before it begins is an invalid event", async (log, uid) => {
    await store(log, uid, laneOf(one, 0));
    const backwards = batchAt({ epoch: one, first: 3, last: 2, events: [{ type: "lane_idled" }] });

    await assertRejects(() => log.append(uid, backwards), "invalid_event", "a backwards batch");
    await assertHeld(log, uid, laneOf(one, 0));
  }),
];

/** A lane begins, and begins again, with a batch from 0. */
export const openingCases: readonly Case<EventLogFixture>[] = [
  logCase("a batch that opens nothing finds a missing lane absent", async (log, uid) => {
    const answer = await log.append(uid, batchAt({ epoch: one, first: 4 }));

    assertOutcome(answer, "absent", "an append to a lane that is not there");
  }),
  logCase("an absent answer makes nothing", async (log, uid) => {
    using received = await tailSession(log, uid);
    await log.append(uid, batchAt({ epoch: two, first: 4 }));

    await assertHeld(log, uid, []);
    const again = await log.append(uid, batchAt({ epoch: two, first: 5 }));
    assertOutcome(again, "absent", "the next append");
    // The refused batch does not fence either: nothing of its epoch was stored.
    await store(log, uid, laneOf(one, 0));
    assertEqual(await received.until(1), laneOf(one, 0), "what was announced");
  }),
  logCase("another lane of the session does not make this one", async (log, uid) => {
    await store(log, uid, laneOf(one, 3, 0));

    const answer = await log.append(uid, batchAt({ epoch: one, first: 4, lane: 1 }));

    assertOutcome(answer, "absent", "an append to lane 1");
  }),
  logCase("after an absent answer everything is written again from 0", async (log, uid) => {
    const reseed = batchAt({ epoch: one, first: 0, last: 8 });
    await log.append(uid, batchAt({ epoch: one, first: 7 }));

    await store(log, uid, [reseed, batchAt({ epoch: one, first: 9 })]);

    await assertHeld(log, uid, [reseed, batchAt({ epoch: one, first: 9 })]);
  }),
  logCase("a re-seed stands for all that was before it", async (log, uid) => {
    const reseed = batchAt({ epoch: one, first: 0, last: 6 });
    await store(log, uid, [...laneOf(one, 5), reseed]);

    const held = await log.read(uid, 0);

    const from = held.findLastIndex((batch) => batch.first === 0);
    assertEqual(held.slice(from), [reseed], "what is held from the last batch from 0 on");
  }),
  logCase("a reader from before a re-seed is given the re-seed", async (log, uid) => {
    const after = [batchAt({ epoch: one, first: 0, last: 6 }), batchAt({ epoch: one, first: 7 })];
    await store(log, uid, [...laneOf(one, 5), ...after]);

    await assertHeld(log, uid, after, { after: { epoch: one, seq: 5 } });
    await assertHeld(log, uid, after.slice(1), { after: { epoch: one, seq: 6 } });
  }),
  logCase("a lane is re-seeded any number of times", async (log, uid) => {
    await store(log, uid, laneOf(one, 0));
    for (let seq = 1; seq <= 30; seq += 1) {
      await store(log, uid, [batchAt({ epoch: one, first: 0, last: seq })]);
    }

    const held = await log.read(uid, 0, { epoch: one, seq: 29 });

    assertEqual(held, [batchAt({ epoch: one, first: 0, last: 30 })], "the last re-seed");
  }),
];
