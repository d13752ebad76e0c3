import type { Batch } from "@millrace/core/ports";
import { assert, assertEqual, within } from "./case.ts";
import type { Case } from "./case.ts";
import {
  batchAt,
  epochOf,
  factAt,
  laneOf,
  logCase,
  nameOf,
  newUid,
  store,
} from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";
import { hear, listen } from "./event-log-heard.ts";

const one = epochOf(1);
const two = epochOf(2);

/** Who subscribes hears what comes from then on: at most once, and in each lane's order. */
export const tailCases: readonly Case<EventLogFixture>[] = [
  logCase("a tail brings what is appended from the moment it resolves", async (log, uid) => {
    await store(log, uid, laneOf(one, 4));
    using heard = await hear(log, uid);

    await store(log, uid, [batchAt({ epoch: one, first: 5 })]);

    assertEqual(await heard.until(1), [batchAt({ epoch: one, first: 5 })], "the first message");
  }),
  logCase("a tail may be opened before anything of its session is there", async (log, uid) => {
    using heard = await hear(log, uid);

    await store(log, uid, laneOf(one, 2));

    assertEqual(await heard.until(3), laneOf(one, 2), "what was heard");
  }),
  logCase("what comes before the first read of a tail is not missed", async (log, uid) => {
    const end = new AbortController();
    const tail = await log.tail(uid, { signal: end.signal });
    await store(log, uid, laneOf(one, 9));

    const heard = listen(tail);

    assertEqual(await heard.until(10), laneOf(one, 9), "what was heard");
    end.abort();
  }),
  logCase("each lane is heard in its order, and nothing twice", async (log, uid) => {
    using heard = await hear(log, uid);

    const lanes = [0, 1, 2].map((lane) => laneOf(one, 30, lane));
    await Promise.all(lanes.map((lane) => store(log, uid, lane)));

    const all = (await heard.until(93)) as readonly Batch[];
    for (const [lane, expected] of lanes.entries()) {
      const own = all.filter((batch) => batch.lane === lane);
      assertEqual(own.map(nameOf), expected.map(nameOf), `lane ${lane}`);
    }
  }),
  logCase("a re-seed and a new epoch are heard like any batch", async (log, uid) => {
    await store(log, uid, laneOf(one, 2));
    using heard = await hear(log, uid);
    const said = [batchAt({ epoch: one, first: 0, last: 3 }), ...laneOf(two, 1)];

    await store(log, uid, said);

    assertEqual(await heard.until(3), said, "what was heard");
  }),
  logCase("two tails of a session both hear everything", async (log, uid) => {
    using first = await hear(log, uid);
    using second = await hear(log, uid);

    await store(log, uid, laneOf(one, 20));

    assertEqual(await first.until(21), laneOf(one, 20), "the first");
    assertEqual(await second.until(21), laneOf(one, 20), "the second");
  }),
  logCase("leaving one tail affects no other", async (log, uid) => {
    using stays = await hear(log, uid);
    const leaves = await log.tail(uid);
    await store(log, uid, laneOf(one, 1));
    const left = (async (): Promise<void> => {
      for await (const _ of leaves) break;
    })();
    await within(left, "leaving a tail");

    await store(log, uid, [batchAt({ epoch: one, first: 2 })]);

    assertEqual(await stays.until(3), laneOf(one, 2), "who stays");
  }),
  logCase("a signal ends its tail and no other", async (log, uid) => {
    const end = new AbortController();
    const ends = listen(await log.tail(uid, { signal: end.signal }));
    using stays = await hear(log, uid);
    await store(log, uid, laneOf(one, 0));
    await ends.until(1);

    end.abort();
    await within(ends.ended, "the end of the tail");
    await store(log, uid, [batchAt({ epoch: one, first: 1 })]);

    assertEqual(await stays.until(2), laneOf(one, 1), "who stays");
    assertEqual(ends.all, laneOf(one, 0), "whoever left");
  }),
  logCase("a signal that is aborted already gives a tail that is over", async (log, uid) => {
    const heard = listen(await log.tail(uid, { signal: AbortSignal.abort() }));

    await within(heard.ended, "the end of the tail");

    assertEqual(heard.all, [], "what was heard");
  }),
  logCase("a tail that nobody reads holds up no writer", async (log, uid) => {
    const end = new AbortController();
    const tail = await log.tail(uid, { signal: end.signal });
    await within(store(log, uid, laneOf(one, 1_000)), "the appends");

    const heard = listen(tail);
    end.abort();
    await within(heard.ended, "the end of the tail");

    // It may have lost some, but none are doubled or out of order.
    const seqs = (heard.all as readonly Batch[]).map((batch) => batch.last);
    assert(
      seqs.every((seq, at) => at === 0 || seq > (seqs[at - 1] ?? -1)),
      `in order: ${seqs.join(" ")}`,
    );
  }),
  logCase("sessions are not heard in each other's tails", async (log, uid) => {
    const other = newUid();
    using heard = await hear(log, uid);

    await store(log, other, laneOf(one, 3));
    await log.announce(other, factAt(1));
    await store(log, uid, laneOf(two, 0));

    assertEqual(await heard.until(1), laneOf(two, 0), "the first message");
  }),
];
