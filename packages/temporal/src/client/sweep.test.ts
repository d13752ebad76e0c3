import { runId, sessionId, sessionUid } from "@millrace/core/writing";
import type { DueSession } from "@millrace/core/ports";
import { manualClock } from "@millrace/core/testing";
import { expect, test } from "vitest";
import type { TemporalDriverEvent } from "./options.ts";
import { sweepLostWakes } from "./sweep.ts";
import { SentHeads } from "./sent-heads.ts";
import type { Wake } from "./wakes.ts";

/** A sweep over sessions that a test lists. By default there is one look every three seconds. */
function openFixture({ chance = 0.5, everyMs = 3_000 } = {}) {
  const clock = manualClock();
  const closing = new AbortController();
  const sentHeads = new SentHeads();
  const woken: Wake[] = [];
  const events: TemporalDriverEvent[] = [];
  const limits: (number | undefined)[] = [];
  const listing: { due: readonly DueSession[] | Error } = { due: [] };
  const swept = sweepLostWakes({
    index: {
      due: async ({ limit } = {}) => {
        limits.push(limit);
        if (listing.due instanceof Error) throw listing.due;
        return listing.due;
      },
    },
    wakes: { sentHeads, add: (wake) => void woken.push(wake) },
    report: (event) => void events.push(event),
    clock,
    random: () => chance,
    signal: closing.signal,
  });
  const look = async (due: readonly DueSession[] | Error): Promise<void> => {
    listing.due = due;
    await clock.advance(everyMs);
  };
  const close = async (): Promise<void> => {
    closing.abort();
    await swept;
  };
  return { sentHeads, woken, events, limits, look, [Symbol.asyncDispose]: close };
}

function dueAt(name: string, head: number, more: Partial<DueSession> = {}): DueSession {
  return { uid: sessionUid(name), sessionId: sessionId(name), head, incarnation: 0, ...more };
}

test("a session that stands at a head over two looks is woken, with its tenant", async () => {
  await using sweep = openFixture();
  const due = dueAt("a", 3, { tenant: "t1" });
  await sweep.look([due]);
  expect(sweep.woken).toEqual([]);
  await sweep.look([due]);

  expect(sweep.woken).toEqual([{ uid: "a", sessionId: "a", tenant: "t1", head: 3 }]);
});

test("a lost wake is repeated within 8 s, and within 5 s by a node that has just started", async () => {
  await using sweep = openFixture({ chance: 0.999, everyMs: 700 });
  const before = dueAt("before", 3);
  await sweep.look([before]);
  const after = dueAt("after", 3); // just after a look
  for (let ms = 700; ms < 4_900; ms += 700) await sweep.look([before, after]);
  expect(sweep.woken.map(({ uid }) => uid)).toEqual(["before"]);
  for (let ms = 4_900; ms < 8_000; ms += 700) await sweep.look([before, after]);

  expect(sweep.woken.map(({ uid }) => uid)).toContain("after");
});

test("a session whose head moves, or which has ended its work between two looks, is not woken", async () => {
  await using sweep = openFixture();
  await sweep.look([dueAt("a", 3), dueAt("b", 1)]);
  await sweep.look([dueAt("a", 4)]);
  await sweep.look([dueAt("a", 5), dueAt("b", 1)]);

  expect(sweep.woken).toEqual([]);
});

test("a session with a run gets a minute, since one step may take so long", async () => {
  await using sweep = openFixture();
  const due = dueAt("a", 3, { run: runId("run_a") });
  for (let looks = 1; looks < 20; looks += 1) await sweep.look([due]);
  expect(sweep.woken).toEqual([]);
  await sweep.look([due]);

  expect(sweep.woken).toHaveLength(1);
});

test("a head that was sent from here is not sent again", async () => {
  await using sweep = openFixture();
  const due = [dueAt("a", 3)];
  sweep.sentHeads.add(sessionUid("a"), 3);
  for (let looks = 0; looks < 5; looks += 1) await sweep.look(due);
  expect(sweep.woken).toEqual([]);

  for (let looks = 0; looks < 2; looks += 1) await sweep.look([dueAt("a", 4)]);
  expect(sweep.woken.map(({ head }) => head)).toEqual([4]);
});

test("what was sent is forgotten when the session has no work any more", async () => {
  await using sweep = openFixture();
  sweep.sentHeads.add(sessionUid("a"), 3);
  await sweep.look([]);

  expect(sweep.sentHeads.has(sessionUid("a"), 3)).toBe(false);
});

test("what is sent while the index is read is kept, since the answer may be older", () => {
  const sentHeads = new SentHeads();
  sentHeads.beginLook();
  sentHeads.add(sessionUid("a"), 3);
  sentHeads.keepListed(new Set());
  expect(sentHeads.has(sessionUid("a"), 3)).toBe(true);

  sentHeads.beginLook();
  sentHeads.keepListed(new Set());
  expect(sentHeads.has(sessionUid("a"), 3)).toBe(false);
});

test("a sub-agent's session is never woken by itself", async () => {
  await using sweep = openFixture();
  const due = [dueAt("sub_uid_item_turn_1", 3)];
  for (let looks = 0; looks < 3; looks += 1) await sweep.look(due);

  expect(sweep.woken).toEqual([]);
});

test("more are listed while the list is long, up to 10,000", async () => {
  await using sweep = openFixture();
  for (const length of [0, 100, 200, 9_000, 10]) {
    await sweep.look(Array.from({ length }, (_, n) => dueAt(`s${n}`, 1)));
  }
  await sweep.look([]);

  expect(sweep.limits).toEqual([100, 100, 200, 400, 10_000, 100]);
});

test("a store that is away is reported once for each outage, and looked at again", async () => {
  await using sweep = openFixture();
  await sweep.look(new Error("no connection"));
  await sweep.look(new Error("no connection"));
  await sweep.look([dueAt("a", 1)]);
  await sweep.look([dueAt("a", 1)]);
  await sweep.look(new Error("no connection"));

  expect(sweep.woken).toHaveLength(1);
  expect(sweep.events.map(({ type }) => type)).toEqual(["store_away", "store_away"]);
});
