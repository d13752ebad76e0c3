import type { SessionUid } from "@millrace/core";
import type { EventLog } from "@millrace/core/ports";
import { assert } from "./case.ts";
import type { Case } from "./case.ts";
import { batchAt, epochOf, laneOf, logCase, newUid, store } from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";
import { tailSession } from "./event-log-received.ts";

const one = epochOf(1);
const two = epochOf(2);
/** A closed subscription may be counted for a moment. */
const tries = 500;

/** What an append reports about subscribers. A log that can't count them reports nothing. */
export const watchedCases: readonly Case<EventLogFixture>[] = [
  logCase("an append does not report a subscriber without one", async (log, uid) => {
    using _elsewhere = await tailSession(log, newUid());

    await store(log, uid, laneOf(one, 2));

    assert((await appendBatch(log, uid, 3)) !== true, "there is no subscriber");
  }),
  logCase("an append does not report the lack of a subscriber with one", async (log, uid) => {
    using _viewer = await tailSession(log, uid);

    await store(log, uid, laneOf(one, 2));

    assert((await appendBatch(log, uid, 3)) !== false, "there is a subscriber");
  }),
  logCase("a later subscriber is counted from the second append on", async (log, uid) => {
    await store(log, uid, laneOf(one, 2));
    using _viewer = await tailSession(log, uid);

    await appendBatch(log, uid, 3);

    assert((await appendBatch(log, uid, 4)) !== false, "there is a subscriber");
  }),
  logCase("a subscriber that came between two attempts is counted", async (log, uid) => {
    await store(log, uid, laneOf(one, 2));
    using _viewer = await tailSession(log, uid);

    const opening = await log.append(uid, batchAt({ epoch: two, first: 0 }));

    assert(opening.outcome === "stored" && opening.watched !== false, "there is a subscriber");
  }),
  logCase("a subscriber that leaves is no longer counted after a while", async (log, uid) => {
    const viewer = await tailSession(log, uid);
    await store(log, uid, laneOf(one, 2));
    viewer[Symbol.dispose]();

    let watched: boolean | undefined = true;
    for (let seq = 3; watched === true && seq < tries; seq += 1)
      watched = await appendBatch(log, uid, seq);

    assert(watched !== true, "no subscriber is left");
  }),
];

/** Appends one more batch, and returns whether the log reports subscribers. */
async function appendBatch(
  log: EventLog,
  uid: SessionUid,
  seq: number,
): Promise<boolean | undefined> {
  const answer = await log.append(uid, batchAt({ epoch: one, first: seq }));
  assert(answer.outcome === "stored", `batch ${seq} is ${answer.outcome}`);
  return answer.watched;
}
