import { itemId, sessionUid } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { assert, assertEqual, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { committed, epochOf, prompt } from "./session-store-bodies.ts";
import { accept, claim, newName, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** Each call that takes a session. */
const calls: readonly (readonly [
  name: string,
  call: (store: SessionStore, uid: SessionUid) => Promise<unknown>,
])[] = [
  ["read", (store, uid) => store.read(uid)],
  ["head", (store, uid) => store.head(uid)],
  ["floors", (store, uid) => store.floors(uid)],
  ["claim", (store, uid) => store.claim(uid, { from: 0 })],
  ["accept", (store, uid) => store.accept(uid, "key", prompt("input_1"))],
  ["open", (store, uid) => store.open(uid, { lane: 0, epoch: epochOf(1), itemId: itemId("a") })],
  ["commit", (store, uid) => store.commit(uid, committed(0, epochOf(1)))],
  ["append", (store, uid) => store.append(uid, { incarnation: 0, head: 0, bodies: [] })],
  ["fork", (store, uid) => store.fork(uid, { sessionId: newName(), n: 0 })],
];

/** A removed session is gone, and its name is free. */
export const removeCases: readonly Case<SessionStoreFixture>[] = [
  ...calls.map(([name, call]) =>
    storeCase(`${name} of a session that never was is an unknown session`, async ({ store }) => {
      const missing = sessionUid(`missing_${crypto.randomUUID()}`);

      await assertRejects(() => call(store, missing), "unknown_session", name);
    }),
  ),
  storeCase("every call on a removed session finds it unknown", async ({ store, uid }) => {
    await store.claim(uid, { from: 0 });
    await store.remove(uid);

    for (const [name, call] of calls) {
      await assertRejects(() => call(store, uid), "unknown_session", name);
    }
  }),
  storeCase("a removed session is neither found nor listed", async ({ store, uid, sessionId }) => {
    await store.remove(uid);

    assertEqual(await store.find(sessionId), undefined, "what is found");
    const listed = await store.list({ limit: 1_000 });
    assert(!listed.some((record) => record.uid === uid), "not in the list");
  }),
  storeCase("a name used again is another session", async (session) => {
    const { store, uid, sessionId } = session;
    await accept(session, "key_1", prompt("input_1"));
    await claim(session, 0);
    await store.remove(uid);

    const again = await store.create({ sessionId });

    assert(again.uid !== uid, "another uid");
    assertEqual(again.head, 0, "its head");
    assertEqual(again.incarnation, 0, "its incarnation");
    // Nothing of the removed session is left, keys included.
    await accept({ store, uid: again.uid, sessionId }, "key_1", prompt("input_2"));
    await assertRejects(() => store.head(uid), "unknown_session", "the old uid");
  }),
  storeCase("removing what is not there is no error", async ({ store, uid }) => {
    await store.remove(uid);
    await store.remove(uid);
    await store.remove(sessionUid(`missing_${crypto.randomUUID()}`));
  }),
  storeCase("removing a session touches no other", async ({ store, uid }) => {
    const other = await store.create({ sessionId: newName() });
    await accept({ store, ...other }, "key_1", prompt("input_1"));

    await store.remove(uid);

    assertEqual((await store.read(other.uid)).length, 1, "the other one's facts");
    assertEqual((await store.find(other.sessionId))?.uid, other.uid, "the other one's name");
  }),
];
