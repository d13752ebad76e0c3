import { assert, assertEqual, within } from "./case.ts";
import type { Case } from "./case.ts";
import { batchAt, epochOf, factAt, laneOf, logCase, newUid, store } from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";
import { tailSession, collect } from "./event-log-received.ts";
import type { Received } from "./event-log-received.ts";

const one = epochOf(1);

/** Hints for readers of the store: numbers without content. */
export const headCases: readonly Case<EventLogFixture>[] = [
  logCase("heads brings numbers, no batch, and does not watch", async (log, uid) => {
    const end = new AbortController();
    const heads = collect(await log.heads(uid, { signal: end.signal }));

    await store(log, uid, laneOf(one, 2));
    const answer = await log.append(uid, batchAt({ epoch: one, first: 3 }));
    await log.announce(uid, factAt(1));

    assertEqual(await heads.until(1), [1], "the first that was received");
    assert(answer.outcome === "stored" && answer.watched !== true, "there is no subscriber");
    end.abort();
  }),
  logCase("heads ends at the number that a tail receives last", async (log, uid) => {
    const end = new AbortController();
    using viewer = await tailSession(log, uid);
    const heads = collect(await log.heads(uid, { signal: end.signal }));

    for (const n of [1, 2, 3]) await log.announce(uid, factAt(n));

    assertEqual(await viewer.until(3), [1, 2, 3].map(factAt), "the viewer");
    assertEqual((await untilHead(heads, 3)).at(-1), 3, "the last number");
    end.abort();
  }),
  logCase("heads never goes back, in whatever order facts are announced", async (log, uid) => {
    const end = new AbortController();
    const heads = collect(await log.heads(uid, { signal: end.signal }));

    for (const n of [2, 1, 5, 3, 4, 6]) await log.announce(uid, factAt(n));

    const numbers = await untilHead(heads, 6);
    assertEqual(
      numbers,
      numbers.toSorted((left, right) => left - right),
      "the numbers",
    );
    end.abort();
  }),
  logCase("a slow reader of heads gets the highest number and no queue", async (log, uid) => {
    const end = new AbortController();
    using viewer = await tailSession(log, uid);
    const slow = await log.heads(uid, { signal: end.signal });
    for (let n = 1; n <= 500; n += 1) await log.announce(uid, factAt(n));
    await log.announce(uid, factAt(400));
    await viewer.until(501);

    const numbers = await untilHead(collect(slow), 500);

    assert(numbers.length <= 3, `${numbers.length} numbers waited`);
    end.abort();
  }),
  logCase("heads is of its session only", async (log, uid) => {
    const end = new AbortController();
    const heads = collect(await log.heads(uid, { signal: end.signal }));

    await log.announce(newUid(), factAt(9));
    await log.announce(uid, factAt(1));

    assertEqual(await heads.until(1), [1], "the first number");
    end.abort();
  }),
  logCase("a signal, and the removal of the session, end heads", async (log, uid) => {
    const end = new AbortController();
    const ends = collect(await log.heads(uid, { signal: end.signal }));
    const over = collect(await log.heads(uid, { signal: AbortSignal.abort() }));
    const stays = collect(await log.heads(uid));

    end.abort();
    await within(ends.ended, "the end by the signal");
    await within(over.ended, "the end of heads that were over before they began");
    await log.announce(uid, factAt(1));
    await stays.until(1);
    await log.remove(uid);

    await within(stays.ended, "the end by the removal");
    assertEqual(stays.all, [1], "what was received");
  }),
];

/** The numbers received up to and including the given one. */
async function untilHead(heads: Received<number>, last: number): Promise<readonly number[]> {
  for (let count = 1; ; count += 1) {
    const numbers = await heads.until(count);
    if (numbers.at(-1) === last) return numbers;
  }
}
