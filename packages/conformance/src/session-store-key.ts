import { sessionKey, sessionUid } from "@millrace/core/writing";
import { assert, assertEqual, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { claim, claimedCase, newName, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** Readers verify with the key, so it must be a secret of one session. */
export const keyCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("a session has a key of 32 bytes, the same each time", async ({ store, uid }) => {
    const key = await store.key(uid);

    assertEqual(sessionKey(key), key, "the key");
    assertEqual(await store.key(uid), key, "the key, asked for again");
    assertEqual(
      await Promise.all(Array.from({ length: 10 }, () => store.key(uid))),
      Array.from({ length: 10 }, () => key),
      "the key, asked for by many at once",
    );
  }),
  claimedCase("a key outlives claims and resets", async (session) => {
    const key = await session.store.key(session.uid);
    await claim(session, 1);
    await claim(session, 2, 1);

    assertEqual(await session.store.key(session.uid), key, "the key");
  }),
  storeCase("no two sessions have the same key", async ({ store, uid }) => {
    const keys = [await store.key(uid)];
    for (let made = 0; made < 20; made += 1) {
      const { uid: other } = await store.create({ sessionId: newName() });
      keys.push(await store.key(other));
    }

    assertEqual(new Set(keys).size, keys.length, "how many keys are different");
  }),
  claimedCase("a fork has a key of its own", async ({ store, uid }) => {
    const fork = await store.fork(uid, { sessionId: newName(), n: 1 });

    assert((await store.key(fork.uid)) !== (await store.key(uid)), "another key");
    assertEqual(await store.key(fork.uid), await store.key(fork.uid), "the fork's key");
  }),
  storeCase("a name that is used again has another key", async ({ store, uid, sessionId }) => {
    const before = await store.key(uid);
    await store.remove(uid);
    const again = await store.create({ sessionId });

    assert((await store.key(again.uid)) !== before, "another key");
  }),
  storeCase("no record holds the key", async ({ store, uid, sessionId }) => {
    const key = await store.key(uid);
    const records = [await store.find(sessionId), ...(await store.list({ limit: 1_000 }))];

    assert(!JSON.stringify(records).includes(key), "the key is in no record");
  }),
  storeCase("a session that is not there has no key", async ({ store, uid }) => {
    await store.remove(uid);

    await assertRejects(() => store.key(uid), "unknown_session", "a removed session");
    const never = sessionUid("never_made");
    await assertRejects(() => store.key(never), "unknown_session", "a session that never was");
  }),
];
