import { systemClock } from "../reference/system.ts";
import { expect, test } from "vitest";
import { sessionUid } from "../ids.ts";
import type { SessionUid } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { manualClock } from "../reference/manual-clock.ts";
import type { ManualClock } from "../reference/manual-clock.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";
import { pollHead } from "./head-poll.ts";

interface PolledStore {
  readonly clock: ManualClock;
  readonly store: SessionStore;
  /** The sessions of each statement. */
  readonly statements: (readonly SessionUid[])[];
  readonly open: (name: string) => Promise<SessionUid>;
}

/** A store that records each read of heads. */
function polledStore({ batched = true } = {}): PolledStore {
  const clock = manualClock();
  const memory = memorySessionStore({ clock });
  const statements: (readonly SessionUid[])[] = [];
  const { heads: _, ...single } = memory;
  const head: SessionStore["head"] = (uid) => {
    statements.push([uid]);
    return memory.head(uid);
  };
  const heads: SessionStore["heads"] = async (uids) => {
    statements.push(uids);
    return (await memory.heads?.(uids)) ?? new Map();
  };
  const open = async (name: string): Promise<SessionUid> =>
    (await memory.create({ sessionId: name })).uid;
  return {
    clock,
    store: batched ? { ...single, head, heads } : { ...single, head },
    statements,
    open,
  };
}

test("many sessions are polled by one statement every 5 s, and a session that is read twice is in it once", async () => {
  const { clock, store, statements, open } = polledStore();
  const heads: number[] = [];
  const uids: SessionUid[] = [];
  for (let session = 0; session < 40; session += 1) uids.push(await open(`session ${session}`));
  for (const uid of [...uids, ...uids]) {
    pollHead(store, clock, { uid, onHead: (head) => heads.push(head) });
    await clock.advance(20);
  }
  await clock.advance(60_000 - clock.monotonic());

  expect(statements.length).toBeLessThanOrEqual(12 * 2);
  expect(new Set(statements.at(-1)).size).toBe(statements.at(-1)?.length);
  expect(heads.length).toBeGreaterThanOrEqual(80 * 11);
  expect(heads.length).toBeLessThanOrEqual(80 * 12);
});

test("a session is polled every second while it is urgent, and at its own period otherwise", async () => {
  const { clock, store, open } = polledStore();
  let urgent = false;
  const polledAt: number[] = [];
  pollHead(store, clock, {
    uid: await open("s"),
    everyMs: 10_000,
    isUrgent: () => urgent,
    onHead: () => polledAt.push(clock.monotonic()),
  });
  await clock.advance(20_000);
  urgent = true;
  await clock.advance(3_000);
  urgent = false;
  await clock.advance(20_000);

  expect(polledAt).toEqual([10_000, 20_000, 21_000, 22_000, 23_000, 33_000, 43_000]);
});

test("a period below a second is kept", async () => {
  const { clock, store, statements, open } = polledStore();
  pollHead(store, clock, { uid: await open("s"), everyMs: 100, onHead: () => undefined });
  await clock.advance(1_000);

  expect(statements).toHaveLength(10);
});

test("a session that is gone is reported as unknown, and others are polled on", async () => {
  for (const batched of [true, false]) {
    const { clock, store, open } = polledStore({ batched });
    const [here, gone] = [await open("here"), await open("gone")];
    await store.remove(gone);
    const seen: unknown[] = [];
    pollHead(store, clock, { uid: here, onHead: (head) => seen.push(head) });
    pollHead(store, clock, {
      uid: gone,
      onHead: () => seen.push("a head"),
      onFailure: (error) => seen.push(error),
    });
    await clock.advance(5_000);

    expect(seen).toMatchObject([0, { code: "unknown_session" }]);
  }
});

test("a store that does not answer is reported to each session, and read again", async () => {
  const { clock, store, open } = polledStore();
  let away = true;
  const failing: SessionStore = {
    ...store,
    heads: (uids) =>
      away ? Promise.reject(new Error("away")) : (store.heads?.(uids) ?? Promise.reject()),
  };
  const seen: string[] = [];
  for (const name of ["a", "b"])
    pollHead(failing, clock, {
      uid: await open(name),
      isUrgent: () => true,
      onHead: () => seen.push(`${name} is here`),
      onFailure: () => seen.push(`${name} fails`),
    });
  await clock.advance(1_000);
  away = false;
  await clock.advance(1_000);

  expect(seen).toEqual(["a fails", "b fails", "a is here", "b is here"]);
});

test("nothing sleeps and nothing is read after the last session has left, and a later one is polled", async () => {
  const { clock, store, statements, open } = polledStore();
  const uid = await open("s");
  const leave = [1, 2].map(() => pollHead(store, clock, { uid, onHead: () => undefined }));
  await clock.advance(5_000);
  leave[0]?.();
  expect(clock.sleepers()).toBe(1);
  leave[1]?.();
  // It comes while the poller still wakes up.
  const again = pollHead(store, clock, { uid, onHead: () => undefined });
  await clock.advance(5_000);
  expect(statements).toHaveLength(2);
  again();
  await clock.advance(60_000);

  expect([statements.length, clock.sleepers()]).toEqual([2, 0]);
});

test("a clock whose sleep returns at once does not stop the event loop", async () => {
  const { store, statements } = polledStore();
  const instant: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: async () => undefined,
    after: systemClock.after,
  };
  const leave = pollHead(store, instant, {
    uid: sessionUid("u"),
    isUrgent: () => true,
    onHead: () => undefined,
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  leave();

  expect(statements.length).toBeLessThan(100);
});
