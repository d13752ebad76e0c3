import { sessionUid } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { assert, assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { prompt } from "./session-store-bodies.ts";
import { accept, claim, newName, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** The heads of many sessions are read in one call. */
export const headsCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("the heads of many sessions are those of each", async (session) => {
    const uids: SessionUid[] = [session.uid];
    for (let count = 1; count <= 5; count += 1) {
      const made = { ...session, ...(await session.store.create({ sessionId: newName() })) };
      for (let n = 1; n <= count; n += 1) await accept(made, `key_${n}`, prompt(`input_${n}`));
      uids.push(made.uid);
    }

    const heads = await headsOf(session.store, uids);

    assertEqual(
      uids.map((uid) => heads.get(uid)),
      [0, 1, 2, 3, 4, 5],
      "the heads",
    );
    assertEqual(heads.size, uids.length, "how many there are");
  }),
  storeCase("heads follow what is stored", async (session) => {
    await claim(session, 0);
    assertEqual((await headsOf(session.store, [session.uid])).get(session.uid), 1, "the head");
    await accept(session, "key", prompt("input"));
    assertEqual((await headsOf(session.store, [session.uid])).get(session.uid), 2, "the head then");
  }),
  storeCase("sessions that are not there have no heads", async ({ store, uid }) => {
    const removed = await store.create({ sessionId: newName() });
    await store.remove(removed.uid);
    const never = sessionUid("never_made");

    const heads = await headsOf(store, [removed.uid, uid, never, uid]);

    assertEqual([...heads], [[uid, 0]], "the heads");
    assertEqual([...(await headsOf(store, []))], [], "the heads of none");
  }),
];

async function headsOf(
  store: SessionStore,
  uids: readonly SessionUid[],
): Promise<ReadonlyMap<SessionUid, number>> {
  assert(store.heads !== undefined, "the store has no heads");
  return store.heads(uids);
}
