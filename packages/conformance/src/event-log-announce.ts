import { itemId, partId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { Nudge } from "@millrace/core/store-kit";
import { assert, assertEqual, within } from "./case.ts";
import type { Case } from "./case.ts";
import { epochOf, factAt, laneOf, logCase, newUid, store } from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";
import { tailSession, collect } from "./event-log-received.ts";

const one = epochOf(1);

/** The log forwards facts. The store keeps them. */
export const announceCases: readonly Case<EventLogFixture>[] = [
  logCase("announced facts reach every tail unchanged", async (log, uid) => {
    const facts = [1, 2, 3].map(factAt);
    using first = await tailSession(log, uid);
    using second = await tailSession(log, uid);

    for (const fact of facts) await log.announce(uid, fact);

    assertEqual((await first.until(3)).toSorted(byNumber), facts, "the first");
    assertEqual((await second.until(3)).toSorted(byNumber), facts, "the second");
  }),
  logCase("an announced item comes with its bytes", async (log, uid) => {
    const { v, n, sessionId, time } = factAt(4);
    const bytes = Uint8Array.of(0, 127, 128, 255);
    const part = { kind: "file", id: partId("p"), name: "a", mediaType: "b/c", bytes } as const;
    const item = { id: itemId("item_4"), author: "tool", parts: [part], stop: "end" } as const;
    const fact: Fact = { v, n, sessionId, time, type: "item_committed", item };
    using received = await tailSession(log, uid);

    await log.announce(uid, structuredClone(fact));

    assertEqual(await received.until(1), [fact], "what was received");
  }),
  logCase("an announcement without a subscriber is no error, and is not kept", async (log, uid) => {
    await log.announce(uid, factAt(1));
    using received = await tailSession(log, uid);

    await log.announce(uid, factAt(2));

    assertEqual(await received.until(1), [factAt(2)], "the first message");
    assertEqual(await log.read(uid, 0), [], "lane 0");
  }),
  logCase("a fact announced twice is at most two messages", async (log, uid) => {
    using received = await tailSession(log, uid);

    await log.announce(uid, factAt(1));
    await log.announce(uid, factAt(1));
    await log.announce(uid, factAt(2));

    const numbers = await numbersUntil(received.until, 2);
    assert(numbers.filter((n) => n === 1).length <= 2, `no more than sent: ${numbers.join(" ")}`);
  }),
];

const nudges: readonly Nudge[] = [
  { kind: "reseed", lane: 0 },
  { kind: "wake" },
  { kind: "abort" },
  { kind: "reseed", lane: 7 },
];

/** Messages from readers to writers. */
export const nudgeCases: readonly Case<EventLogFixture>[] = [
  logCase("every subscribed writer receives every nudge", async (log, uid) => {
    const end = new AbortController();
    const first = collect(await log.nudges(uid, { signal: end.signal }));
    const second = collect(await log.nudges(uid, { signal: end.signal }));

    for (const nudge of nudges) await log.nudge(uid, nudge);

    assertEqual(await first.until(nudges.length), nudges, "the first writer");
    assertEqual(await second.until(nudges.length), nudges, "the second writer");
    end.abort();
  }),
  logCase("nudges and tails are apart", async (log, uid) => {
    const end = new AbortController();
    const nudges = collect(await log.nudges(uid, { signal: end.signal }));
    using received = await tailSession(log, uid);

    await log.nudge(uid, { kind: "wake" });
    await store(log, uid, laneOf(one, 0));
    await log.announce(uid, factAt(1));
    await log.nudge(uid, { kind: "abort" });

    assertEqual(await nudges.until(2), [{ kind: "wake" }, { kind: "abort" }], "the writer");
    const types = (await received.until(2)).map((message) => ("n" in message ? "fact" : "batch"));
    assertEqual(types.toSorted(), ["batch", "fact"], "the reader");
    end.abort();
  }),
  logCase("a nudge is for its session only", async (log, uid) => {
    const end = new AbortController();
    const nudges = collect(await log.nudges(uid, { signal: end.signal }));

    await log.nudge(newUid(), { kind: "abort" });
    await log.nudge(uid, { kind: "wake" });

    assertEqual(await nudges.until(1), [{ kind: "wake" }], "the first nudge");
    end.abort();
  }),
  logCase("a nudge without a subscriber is no error, and is not kept", async (log, uid) => {
    await log.nudge(uid, { kind: "abort" });
    const end = new AbortController();
    const nudges = collect(await log.nudges(uid, { signal: end.signal }));

    await log.nudge(uid, { kind: "wake" });

    assertEqual(await nudges.until(1), [{ kind: "wake" }], "the first nudge");
    end.abort();
  }),
  logCase(
    "a log that counts subscribers returns 0 without one, and more with one",
    async (log, uid) => {
      const before = await log.nudge(uid, { kind: "wake" });
      const end = new AbortController();
      const nudges = collect(await log.nudges(uid, { signal: end.signal }));

      const received = await log.nudge(uid, { kind: "wake" });

      await nudges.until(1);
      assert(before === undefined || before === 0, `no subscriber, but the count is ${before}`);
      assert(
        received === undefined || received > 0,
        `one subscriber, but the count is ${received}`,
      );
      end.abort();
    },
  ),
  logCase("a signal ends the nudges", async (log, uid) => {
    const end = new AbortController();
    const nudges = collect(await log.nudges(uid, { signal: end.signal }));
    const over = collect(await log.nudges(uid, { signal: AbortSignal.abort() }));

    end.abort();

    await within(nudges.ended, "the end of the nudges");
    await within(over.ended, "the end of nudges that were over before they began");
  }),
];

function byNumber(left: Fact | Batch, right: Fact | Batch): number {
  return ("n" in left ? left.n : 0) - ("n" in right ? right.n : 0);
}

/** The numbers of the facts received up to and including the given one. */
async function numbersUntil(
  until: (count: number) => Promise<readonly (Fact | Batch)[]>,
  last: number,
): Promise<readonly number[]> {
  for (let count = 1; ; count += 1) {
    const numbers = (await until(count)).map((message) => ("n" in message ? message.n : 0));
    if (numbers.at(-1) === last) return numbers;
  }
}
