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
import { tailSession, collect } from "./event-log-received.ts";

const one = epochOf(1);
const two = epochOf(2);

/** A subscription delivers what is stored from then on: at most once, and in each lane's order. */
export const tailCases: readonly Case<EventLogFixture>[] = [
  logCase("a tail brings what is appended from the moment it resolves", async (log, uid) => {
    await store(log, uid, laneOf(one, 4));
    using received = await tailSession(log, uid);

    await store(log, uid, [batchAt({ epoch: one, first: 5 })]);

    assertEqual(await received.until(1), [batchAt({ epoch: one, first: 5 })], "the first message");
  }),
  logCase("a tail may be opened before anything of its session is there", async (log, uid) => {
    using received = await tailSession(log, uid);

    await store(log, uid, laneOf(one, 2));

    assertEqual(await received.until(3), laneOf(one, 2), "what was received");
  }),
  logCase("what comes before the first read of a tail is not missed", async (log, uid) => {
    const end = new AbortController();
    const tail = await log.tail(uid, { signal: end.signal });
    await store(log, uid, laneOf(one, 9));

    const received = collect(tail);

    assertEqual(await received.until(10), laneOf(one, 9), "what was received");
    end.abort();
  }),
  logCase("each lane arrives in its order, and nothing twice", async (log, uid) => {
    using received = await tailSession(log, uid);

    const lanes = [0, 1, 2].map((lane) => laneOf(one, 30, lane));
    await Promise.all(lanes.map((lane) => store(log, uid, lane)));

    const all = (await received.until(93)) as readonly Batch[];
    for (const [lane, expected] of lanes.entries()) {
      const own = all.filter((batch) => batch.lane === lane);
      assertEqual(own.map(nameOf), expected.map(nameOf), `lane ${lane}`);
    }
  }),
  logCase("a re-seed and a new epoch arrive like any batch", async (log, uid) => {
    await store(log, uid, laneOf(one, 2));
    using received = await tailSession(log, uid);
    const batches = [batchAt({ epoch: one, first: 0, last: 3 }), ...laneOf(two, 1)];

    await store(log, uid, batches);

    assertEqual(await received.until(3), batches, "what was received");
  }),
  logCase("two tails of a session both tailSession everything", async (log, uid) => {
    using first = await tailSession(log, uid);
    using second = await tailSession(log, uid);

    await store(log, uid, laneOf(one, 20));

    assertEqual(await first.until(21), laneOf(one, 20), "the first");
    assertEqual(await second.until(21), laneOf(one, 20), "the second");
  }),
  logCase("leaving one tail affects no other", async (log, uid) => {
    using stays = await tailSession(log, uid);
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
    const ends = collect(await log.tail(uid, { signal: end.signal }));
    using stays = await tailSession(log, uid);
    await store(log, uid, laneOf(one, 0));
    await ends.until(1);

    end.abort();
    await within(ends.ended, "the end of the tail");
    await store(log, uid, [batchAt({ epoch: one, first: 1 })]);

    assertEqual(await stays.until(2), laneOf(one, 1), "who stays");
    assertEqual(ends.all, laneOf(one, 0), "the ended tail");
  }),
  logCase("a signal that is aborted already gives a tail that is over", async (log, uid) => {
    const received = collect(await log.tail(uid, { signal: AbortSignal.abort() }));

    await within(received.ended, "the end of the tail");

    assertEqual(received.all, [], "what was received");
  }),
  logCase("a tail that is not read delays no writer", async (log, uid) => {
    const end = new AbortController();
    const tail = await log.tail(uid, { signal: end.signal });
    await within(store(log, uid, laneOf(one, 1_000)), "the appends");

    const received = collect(tail);
    end.abort();
    await within(received.ended, "the end of the tail");

    // Messages may be lost, but none is repeated or out of order.
    const seqs = (received.all as readonly Batch[]).map((batch) => batch.last);
    assert(
      seqs.every((seq, at) => at === 0 || seq > (seqs[at - 1] ?? -1)),
      `in order: ${seqs.join(" ")}`,
    );
  }),
  logCase("a tail receives no message of another session", async (log, uid) => {
    const other = newUid();
    using received = await tailSession(log, uid);

    await store(log, other, laneOf(one, 3));
    await log.announce(other, factAt(1));
    await store(log, uid, laneOf(two, 0));

    assertEqual(await received.until(1), laneOf(two, 0), "the first message");
  }),
];
