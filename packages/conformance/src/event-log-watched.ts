import type { SessionUid } from "@millrace/core";
import type { EventLog } from "@millrace/core/ports";
import { assert } from "./case.ts";
import type { Case } from "./case.ts";
import { batchAt, epochOf, laneOf, logCase, newUid, store } from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";
import { hear } from "./event-log-heard.ts";

const one = epochOf(1);
const two = epochOf(2);
/** Whoever has left may be counted for a moment still. */
const tries = 500;

/** What an append says of those who watch. A log that does not know says nothing. */
export const watchedCases: readonly Case<EventLogFixture>[] = [
  logCase("an append does not claim that somebody watches when nobody does", async (log, uid) => {
    using _elsewhere = await hear(log, newUid());

    await store(log, uid, laneOf(one, 2));

    assert((await say(log, uid, 3)) !== true, "nobody watches");
  }),
  logCase("an append does not claim that nobody watches when somebody does", async (log, uid) => {
    using _viewer = await hear(log, uid);

    await store(log, uid, laneOf(one, 2));

    assert((await say(log, uid, 3)) !== false, "somebody watches");
  }),
  logCase("who comes later is counted from the second append on", async (log, uid) => {
    await store(log, uid, laneOf(one, 2));
    using _viewer = await hear(log, uid);

    await say(log, uid, 3);

    assert((await say(log, uid, 4)) !== false, "somebody watches");
  }),
  logCase("who came between two attempts is not overlooked", async (log, uid) => {
    await store(log, uid, laneOf(one, 2));
    using _viewer = await hear(log, uid);

    const opening = await log.append(uid, batchAt({ epoch: two, first: 0 }));

    assert(opening.outcome === "stored" && opening.watched !== false, "somebody watches");
  }),
  logCase("who leaves is counted no more, at the latest after a while", async (log, uid) => {
    const viewer = await hear(log, uid);
    await store(log, uid, laneOf(one, 2));
    viewer[Symbol.dispose]();

    let watched: boolean | undefined = true;
    for (let seq = 3; watched === true && seq < tries; seq += 1) watched = await say(log, uid, seq);

    assert(watched !== true, "nobody watches any more");
  }),
];

/** Appends one more, and returns what is said of those who watch. */
async function say(log: EventLog, uid: SessionUid, seq: number): Promise<boolean | undefined> {
  const answer = await log.append(uid, batchAt({ epoch: one, first: seq }));
  assert(answer.outcome === "stored", `batch ${seq} is ${answer.outcome}`);
  return answer.watched;
}
