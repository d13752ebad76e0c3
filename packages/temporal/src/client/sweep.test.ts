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
  const asked: string[] = [];
  const running = new Map<string, boolean | Error>();
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
    isRunning: async ({ uid }) => {
      asked.push(uid);
      const answer = running.get(uid) ?? true;
      if (answer instanceof Error) throw answer;
      return answer;
    },
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
  return { sentHeads, woken, events, limits, asked, running, look, [Symbol.asyncDispose]: close };
}

function dueAt(name: string, head: number, more: Partial<DueSession> = {}): DueSession {
  return { uid: sessionUid(name), sessionId: sessionId(name), head, incarnation: 0, ...more };
}

/** A run that the workflow which has claimed it drives. */
const underWay = { run: runId("run_a"), sign: { driver: "worker", by: "workflow" } } as const;

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
  const due = dueAt("a", 3, underWay);
  for (let looks = 1; looks < 20; looks += 1) await sweep.look([due]);
  expect(sweep.woken).toEqual([]);
  await sweep.look([due]);

  expect(sweep.woken).toHaveLength(1);
});

test("a session whose run was left by its driver is woken with the first look", async () => {
  await using sweep = openFixture();
  const due = dueAt("a", 3, { run: runId("run_a") });
  await sweep.look([due]);

  expect(sweep.woken).toEqual([{ uid: "a", sessionId: "a", tenant: undefined, head: 3 }]);
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

test("a session that has work at a head which was sent is woken again if its workflow has ended", async () => {
  await using sweep = openFixture();
  const [idle, running] = [dueAt("idle", 3), dueAt("running", 5, underWay)];
  for (const { uid, head } of [idle, running]) sweep.sentHeads.add(uid, head);
  for (const { uid } of [idle, running]) sweep.running.set(uid, false);
  for (let looks = 1; looks < 4; looks += 1) await sweep.look([idle, running]);
  expect([sweep.woken, sweep.asked]).toEqual([[], []]);

  await sweep.look([idle, running]);
  expect(sweep.woken.map(({ uid }) => uid)).toEqual(["idle"]);
  expect(sweep.sentHeads.has(idle.uid, 3)).toBe(false); // or it would not be sent

  for (let looks = 5; looks <= 20; looks += 1) await sweep.look([running]);
  expect(sweep.woken.map(({ uid }) => uid)).toEqual(["idle", "running"]);
});

test("a session that waits for long is asked for ever more rarely, and not woken while its workflow runs", async () => {
  await using sweep = openFixture();
  const due = [dueAt("a", 3, underWay)];
  sweep.sentHeads.add(sessionUid("a"), 3);
  const askedAt: number[] = [];
  for (let looks = 1; looks <= 1_300; looks += 1) {
    const before = sweep.asked.length;
    await sweep.look(due);
    if (sweep.asked.length > before) askedAt.push(looks);
  }

  expect(sweep.woken).toEqual([]);
  expect(askedAt).toEqual([20, 40, 80, 160, 320, 640, 1_240]); // then each half hour
});

test("many workflows are asked for over several looks", async () => {
  await using sweep = openFixture();
  const due = Array.from({ length: 100 }, (_, at) => dueAt(`s${at}`, 1));
  for (const { uid, head } of due) sweep.sentHeads.add(uid, head);
  const counts: number[] = [];
  for (let looks = 1; looks <= 7; looks += 1) {
    await sweep.look(due);
    counts.push(sweep.asked.length);
  }

  expect(counts).toEqual([0, 0, 0, 40, 80, 100, 100]);
  expect(new Set(sweep.asked).size).toBe(100);
});

test("while Temporal is away nothing follows, and it is asked again", async () => {
  await using sweep = openFixture();
  const due = [dueAt("a", 3)];
  sweep.sentHeads.add(sessionUid("a"), 3);
  sweep.running.set("a", new Error("away"));
  for (let looks = 1; looks <= 6; looks += 1) await sweep.look(due);
  expect([sweep.asked, sweep.woken]).toEqual([["a", "a", "a"], []]);

  sweep.running.set("a", false);
  await sweep.look(due);

  expect(sweep.woken).toHaveLength(1);
});
