import type { Checkpoint } from "@millrace/core/ports";
import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { prompt } from "./session-store-bodies.ts";
import { accept, claim, claimedCase, newName, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture, StoreSession } from "./session-store-fixture.ts";

/** A checkpoint is a cache of facts: the newest one is served, and none of facts that were undone. */
export const checkpointCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("a session has no checkpoint until one is kept", async (session) => {
    await assertCheckpoint(session, undefined, "of a new session");
    await fill(session, 2);
    await assertCheckpoint(session, undefined, "of a session with facts");
  }),
  storeCase("the text of a checkpoint comes back as it was kept", async (session) => {
    await fill(session, 1);
    const long = `{"text":"${"é👩‍👧 \\u0000 ' \\\\ ".repeat(20_000)}"}`;
    for (const text of ["{}", "", " \n\t\"'\\ ", "é 👩‍👧", long]) {
      await keep(session, 1, text);
      await assertCheckpoint(session, { head: 1, text }, `of ${text.length} characters`);
    }
  }),
  storeCase("a checkpoint is no fact", async (session) => {
    await fill(session, 2);
    const before = await session.store.read(session.uid);

    await keep(session, 2);

    assertEqual(await session.store.read(session.uid), before, "the facts");
    assertEqual(await session.store.head(session.uid), 2, "the head");
  }),
  storeCase("a checkpoint stands while facts come after it", async (session) => {
    await fill(session, 3);
    await keep(session, 2, "at 2");
    await fill(session, 3);
    await claim(session, 0);

    await assertCheckpoint(session, { head: 2, text: "at 2" }, "after more facts");
  }),
  storeCase("the checkpoint at the highest head is served", async (session) => {
    await fill(session, 5);
    await keep(session, 2, "at 2");
    await keep(session, 4, "at 4");
    await keep(session, 3, "at 3");
    await assertCheckpoint(session, { head: 4, text: "at 4" }, "after an older one");

    await keep(session, 4, "at 4 again");
    await assertCheckpoint(session, { head: 4, text: "at 4 again" }, "after one at the same head");

    await Promise.all([5, 1, 3, 2, 4].map((head) => keep(session, head, `by many at ${head}`)));
    await assertCheckpoint(session, { head: 5, text: "by many at 5" }, "after many at once");
  }),
  storeCase("a checkpoint above the session's head is ignored", async (session) => {
    await fill(session, 2);
    await keep(session, 3);
    await assertCheckpoint(session, undefined, "of facts that are not there");

    await keep(session, 1, "at 1");
    await keep(session, 100);
    await fill(session, 2);
    await assertCheckpoint(session, { head: 1, text: "at 1" }, "after one that was ignored");
  }),
  claimedCase("a reset below its head makes a checkpoint void", async (session) => {
    await fill(session, 4);
    await keep(session, 5);

    await claim(session, 1, 4);

    await assertCheckpoint(session, undefined, "after the reset");
    await keep(session, 6, "at 6");
    await assertCheckpoint(session, { head: 6, text: "at 6" }, "kept after the reset");
  }),
  claimedCase("a reset at its head or above it leaves a checkpoint", async (session) => {
    await fill(session, 4);
    await keep(session, 3, "at 3");

    await claim(session, 1, 4);
    await claim(session, 2, 3);

    await assertCheckpoint(session, { head: 3, text: "at 3" }, "after both resets");
  }),
  claimedCase("a checkpoint of undone facts that is kept late is void", async (session) => {
    await fill(session, 4);
    await claim(session, 1, 2);

    await keep(session, 4, "by a driver that has not seen the reset");

    await assertCheckpoint(session, undefined, "of undone facts");
    await keep(session, 6, "at 6");
    await assertCheckpoint(session, { head: 6, text: "at 6" }, "by a driver that has");
  }),
  storeCase("a checkpoint goes with its session", async (session) => {
    const { store, uid, sessionId } = session;
    await fill(session, 2);
    await keep(session, 2);
    await store.remove(uid);

    const again = await store.create({ sessionId });

    await assertCheckpoint({ store, ...again }, undefined, "of a new session of the same name");
  }),
  storeCase("a fork has no checkpoint", async (session) => {
    await fill(session, 3);
    await keep(session, 2);

    const fork = await session.store.fork(session.uid, { sessionId: newName(), n: 3 });

    await assertCheckpoint({ store: session.store, ...fork }, undefined, "of the fork");
    await assertCheckpoint(session, { head: 2, text: "{}" }, "of its source");
  }),
  storeCase("checkpoints are a session's own", async (session) => {
    const other = { ...session, ...(await session.store.create({ sessionId: newName() })) };
    await fill(session, 2);
    await fill(other, 2);
    await keep(session, 2, "one");
    await keep(other, 1, "other");

    await assertCheckpoint(session, { head: 2, text: "one" }, "of the one");
    await assertCheckpoint(other, { head: 1, text: "other" }, "of the other");
  }),
];

async function fill(session: StoreSession, count: number): Promise<void> {
  const head = await session.store.head(session.uid);
  for (let n = head + 1; n <= head + count; n += 1) {
    await accept(session, `key_${n}`, prompt(`input_${n}`));
  }
}

async function keep({ store, uid }: StoreSession, head: number, text = "{}"): Promise<void> {
  assert(store.keepCheckpoint !== undefined, "the store has no keepCheckpoint");
  await store.keepCheckpoint(uid, { head, text });
}

async function assertCheckpoint(
  { store, uid }: StoreSession,
  expected: Checkpoint | undefined,
  which: string,
): Promise<void> {
  assert(store.checkpoint !== undefined, "the store has no checkpoint");
  assertEqual(await store.checkpoint(uid), expected, `the checkpoint ${which}`);
}
