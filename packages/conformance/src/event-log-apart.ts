import { lastOfRemoved } from "@millrace/core/store-kit";
import { assert, assertOutcome, within } from "./case.ts";
import type { Case } from "./case.ts";
import {
  assertHeld,
  assertRefused,
  batchAt,
  epochOf,
  laneOf,
  logCase,
  newUid,
  store,
} from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";
import { tailSession, collect } from "./event-log-received.ts";

const one = epochOf(1);
const two = epochOf(2);

/** Lanes and sessions are independent. */
export const apartCases: readonly Case<EventLogFixture>[] = [
  logCase("the fence of a lane does not reach its neighbours", async (log, uid) => {
    await store(log, uid, laneOf(two, 5, 0));

    await store(log, uid, laneOf(one, 2, 1));

    await assertHeld(log, uid, laneOf(two, 5, 0), { lane: 0 });
    await assertHeld(log, uid, laneOf(one, 2, 1), { lane: 1 });
  }),
  logCase("a hundred lanes are written at once and kept apart", async (log, uid) => {
    const lanes = Array.from({ length: 100 }, (_, lane) => laneOf(epochOf(lane + 1), 5, lane));

    await Promise.all(lanes.map((lane) => store(log, uid, lane)));

    for (const [lane, expected] of lanes.entries()) await assertHeld(log, uid, expected, { lane });
  }),
  logCase("a re-seed of one lane leaves the others as they were", async (log, uid) => {
    await store(log, uid, [...laneOf(one, 3, 0), ...laneOf(one, 3, 1)]);

    await store(log, uid, [batchAt({ epoch: one, first: 0, last: 4, lane: 0 })]);

    await assertHeld(log, uid, laneOf(one, 3, 1), { lane: 1 });
  }),
  logCase("sessions with equal lanes and epochs are kept apart", async (log, uid) => {
    const other = newUid();
    await store(log, uid, laneOf(one, 5));

    assertOutcome(
      await log.append(other, batchAt({ epoch: one, first: 6 })),
      "absent",
      "the other session's lane",
    );
    await store(log, other, laneOf(one, 1));

    await assertHeld(log, uid, laneOf(one, 5));
    await assertHeld(log, other, laneOf(one, 1));
  }),
];

/** Removing a session leaves nothing of it. */
export const removeCases: readonly Case<EventLogFixture>[] = [
  logCase("a removed session has no lanes, and refuses what comes later", async (log, uid) => {
    await store(log, uid, [...laneOf(two, 3, 0), ...laneOf(two, 3, 1)]);

    await log.remove(uid);

    await assertHeld(log, uid, [], { lane: 0 });
    await assertHeld(log, uid, [], { lane: 1 });
    // A batch that opens nothing may find its lane absent. Its writer then restates the lane from 0.
    const answer = await log.append(uid, batchAt({ epoch: two, first: 4 }));
    assert(answer.outcome !== "stored", "an append that opens nothing is not stored");
    await assertRefused(log, uid, batchAt({ epoch: two, first: 0 }), lastOfRemoved);
    await assertRefused(log, uid, batchAt({ epoch: two, first: 0, lane: 9 }), lastOfRemoved);
    await assertHeld(log, uid, [], { lane: 0 });
    await assertHeld(log, uid, [], { lane: 9 });
  }),
  logCase("removing a session touches no other", async (log, uid) => {
    const other = newUid();
    await store(log, uid, laneOf(one, 1));
    await store(log, other, laneOf(two, 2));
    using received = await tailSession(log, other);

    await log.remove(uid);
    await store(log, other, [batchAt({ epoch: two, first: 3 })]);

    await assertHeld(log, other, laneOf(two, 3));
    await received.until(1);
    await assertRefused(log, other, batchAt({ epoch: one, first: 0 }), { epoch: two, seq: 3 });
  }),
  logCase("removing what is not there is no error", async (log, uid) => {
    await log.remove(newUid());
    await store(log, uid, laneOf(one, 1));

    await log.remove(uid);
    await log.remove(uid);

    await assertHeld(log, uid, []);
  }),
  logCase("removing a session ends its tails", async (log, uid) => {
    const received = collect(await log.tail(uid));
    await store(log, uid, laneOf(one, 0));
    await received.until(1);

    await log.remove(uid);

    await within(received.ended, "the end of the tail");
  }),
];
