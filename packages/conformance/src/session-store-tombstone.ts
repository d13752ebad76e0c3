import type { Tombstone } from "@millrace/core/ports";
import { sessionUid } from "@millrace/core/writing";
import { assert, assertEqual, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { prompt } from "./session-store-bodies.ts";
import { openChild } from "./session-store-children.ts";
import { accept, newName, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** A removal takes the sessions of sub-agents along, and leaves who and when. */
export const tombstoneCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("a removal takes the sessions of sub-agents along, and theirs", async (session) => {
    const { store, uid } = session;
    const children = [await openChild(store, uid, 1), await openChild(store, uid, 2)];
    const nested = await openChild(store, children[1]?.uid ?? uid, 1);
    const family = [...children, nested];
    for (const { uid: child } of family) await store.accept(child, "key", prompt("input"));
    const stranger = await store.create({ sessionId: newName() });
    const strangers = await openChild(store, stranger.uid, 1);

    const left = await store.remove(uid, { actor: { user: "Ann" } });

    assertEqual(left[0]?.uid, uid, "the first tombstone");
    assertEqual(uidsOf(left), uidsOf([{ uid }, ...family]), "the tombstones");
    assert(
      left.every(({ root, actor }) => root === uid && actor?.user === "Ann"),
      "each names the root and the actor",
    );
    for (const one of family) {
      assertEqual(await store.find(one.sessionId), undefined, "what is found");
      await assertRejects(() => store.read(one.uid), "unknown_session", "read");
      assertEqual((await store.tombstone(one.sessionId))?.root, uid, "the root of a child");
    }
    assertEqual((await store.find(strangers.sessionId))?.uid, strangers.uid, "another's child");
  }),
  storeCase("forks stay with the sessions of their own sub-agents", async (session) => {
    const { store, uid } = session;
    await accept(session, "key", prompt("input"));
    const fork = await store.fork(uid, { sessionId: newName(), n: 1 });
    const forks = await openChild(store, fork.uid, 1);
    const { length } = await store.read(fork.uid);

    await store.remove(uid);

    assertEqual((await store.read(fork.uid)).length, length, "the fork's facts");
    assertEqual((await store.find(forks.sessionId))?.uid, forks.uid, "the fork's child");
  }),
  storeCase("a tombstone has who and when, and nothing else", async (session) => {
    const { store, uid, sessionId } = session;
    const before = store.now();
    const actor = { user: "Ann Ü \0 👩‍👧", via: "http" };

    const [left] = await store.remove(uid, { actor });

    const found = await store.tombstone(sessionId);
    assertEqual(found, left, "what the name finds");
    assertEqual(Object.keys(found ?? {}).toSorted(), ["actor", "at", "root", "uid"], "its fields");
    assertEqual(found?.actor, actor, "the actor");
    const at = found?.at ?? 0;
    assert(at >= before - 2_000 && at <= store.now() + 2_000, `${at} is about now`);
  }),
  storeCase("without an actor a tombstone names none", async ({ store, uid, sessionId }) => {
    await store.remove(uid);

    const found = await store.tombstone(sessionId);
    assertEqual(Object.keys(found ?? {}).toSorted(), ["at", "root", "uid"], "its fields");
  }),
  storeCase("a repeat leaves the tombstone as it is", async ({ store, uid, sessionId }) => {
    const first = await store.remove(uid, { actor: { user: "Ann" } });
    const again = await store.remove(uid, { actor: { user: "Bob" } });

    assertEqual(again, first, "what the repeat returns");
    assertEqual(await store.tombstone(sessionId), first[0], "what the name finds");
  }),
  storeCase("a name in use has the tombstone of the one before", async (session) => {
    const { store, uid, sessionId } = session;
    assertEqual(await store.tombstone(sessionId), undefined, "before it is removed");
    await store.remove(uid, { actor: { user: "Ann" } });
    const again = await store.create({ sessionId });
    assertEqual((await store.tombstone(sessionId))?.uid, uid, "while it is in use again");
    await store.remove(again.uid, { actor: { user: "Bob" } });

    const found = await store.tombstone(sessionId);
    assertEqual([found?.uid, found?.actor?.user], [again.uid, "Bob"], "the last one");
  }),
  storeCase("what never was has no tombstone", async ({ store }) => {
    const left = await store.remove(sessionUid(`missing_${crypto.randomUUID()}`));

    assertEqual(left, [], "what the removal returns");
    assertEqual(await store.tombstone(newName()), undefined, "what a name finds");
  }),
  storeCase("an actor that a store can't hold is refused, and nothing removed", async (session) => {
    const { store, uid } = session;
    for (const user of ["", "half a pair \ud800", "x".repeat(257)]) {
      await assertRejects(() => store.remove(uid, { actor: { user } }), "invalid_id", "remove");
    }
    assertEqual(await store.head(uid), 0, "its head");
  }),
];

function uidsOf(all: readonly Pick<Tombstone, "uid">[]): readonly string[] {
  return all.map(({ uid }) => uid).toSorted();
}
