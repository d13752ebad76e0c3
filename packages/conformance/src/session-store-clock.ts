import { assert } from "./case.ts";
import type { Case } from "./case.ts";
import { committed, epochOf, prompt, run } from "./session-store-bodies.ts";
import { accept, append, claimedCase, open, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** How far the estimate of a server's clock may be off, and the milliseconds that are rounded away. */
const toleranceMs = 100;

/** One clock gives facts their time, and deadlines are compared with it. */
export const clockCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("the time of each fact is that of the store's clock", async (session) => {
    const { store, uid } = session;
    const calls = [
      () => accept(session, "key", prompt("input")),
      () => append(session, [{ type: "run_started", runId: run }]),
      () => open(session, 0, epochOf(1)),
      () => store.commit(uid, committed(0, epochOf(1))),
    ];
    for (const call of calls) {
      const after = await store.head(uid);
      const begin = store.now();
      await call();
      const end = store.now();

      for (const { n, time } of await store.read(uid, { after })) {
        const inside = begin - toleranceMs <= time && time <= end + toleranceMs;
        assert(inside, `fact ${n} has the time ${time}, but it was stored in ${begin} to ${end}`);
      }
    }
  }),
  storeCase("the store's clock does not go back", async (session) => {
    let last = session.store.now();
    for (let round = 0; round < 20; round += 1) {
      await accept(session, `key_${round}`, prompt(`input_${round}`));
      for (let taken = 0; taken < 100; taken += 1) {
        const now = session.store.now();
        assert(now >= last, `${now} after ${last}`);
        last = now;
      }
    }
  }),
];
