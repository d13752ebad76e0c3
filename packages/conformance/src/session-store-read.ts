import { assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { committed, epochOf, prompt, run } from "./session-store-bodies.ts";
import {
  accept,
  append,
  assertDense,
  claim,
  claimedCase,
  open,
  storeCase,
} from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** Facts are read in order from any number on. */
export const readCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("facts are read on from every number", async (session) => {
    for (let at = 1; at <= 60; at += 1) await accept(session, `key_${at}`, prompt(`input_${at}`));
    const all = await assertDense(session);

    for (let after = 0; after <= 61; after += 1) {
      const facts = await session.store.read(session.uid, { after });
      assertEqual(facts, all.slice(after), `after ${after}`);
    }
  }),
  storeCase("a limit cuts what is read at its end", async (session) => {
    for (let at = 1; at <= 10; at += 1) await accept(session, `key_${at}`, prompt(`input_${at}`));
    const all = await assertDense(session);

    for (const [after, limit] of [
      [0, 1],
      [0, 10],
      [0, 11],
      [3, 4],
      [9, 4],
      [10, 4],
    ] as const) {
      const facts = await session.store.read(session.uid, { after, limit });
      assertEqual(facts, all.slice(after, after + limit), `${limit} after ${after}`);
    }
    assertEqual(
      await session.store.read(session.uid, { limit: 3 }),
      all.slice(0, 3),
      "the first 3",
    );
  }),
  storeCase("what is read before a number ends below it", async (session) => {
    for (let at = 1; at <= 9; at += 1) await accept(session, `key_${at}`, prompt(`input_${at}`));
    const all = await assertDense(session);

    for (const before of [0, 1, 2, 5, 9, 10, 11, 100]) {
      for (const after of [undefined, 0, 3, 4, 5, 9, 12]) {
        const between = all.filter(({ n }) => n > (after ?? 0) && n < before);
        const options = { before, after };
        const facts = await session.store.read(session.uid, options);
        assertEqual(facts, between, JSON.stringify(options));
        for (const limit of [1, 3, 20]) {
          const last = await session.store.read(session.uid, { ...options, limit });
          assertEqual(last, between.slice(-limit), JSON.stringify({ ...options, limit }));
        }
      }
    }
  }),
  storeCase("the head is the number of the last fact after every call", async (session) => {
    const heads: number[] = [];
    const note = async (): Promise<void> => void heads.push(await session.store.head(session.uid));
    await note();
    await claim(session, 0);
    await note();
    await accept(session, "key_1", prompt("input_1"));
    await note();
    await append(session, [
      { type: "run_started", runId: run },
      { type: "compaction_started", runId: run },
    ]);
    await note();
    await open(session, 0, epochOf(1));
    await note();
    await session.store.commit(session.uid, committed(0, epochOf(1)));
    await note();

    assertEqual(heads, [0, 1, 2, 4, 4, 5], "the heads");
    assertEqual((await session.store.find(session.sessionId))?.head, 5, "the record's head");
  }),
  claimedCase("floors name exactly the lanes that are open", async (session) => {
    await open(session, 11, epochOf(3));
    await open(session, 2, epochOf(2));
    await open(session, 0, epochOf(1));
    await session.store.commit(session.uid, committed(2, epochOf(2)));

    assertEqual(
      await session.store.floors(session.uid),
      [
        { lane: 0, epoch: epochOf(1) },
        { lane: 11, epoch: epochOf(3) },
      ],
      "the floors",
    );
  }),
  claimedCase("every fact has its version, number, session and time", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    await append(session, [{ type: "run_started", runId: run }]);
    await open(session, 0, epochOf(1));
    await session.store.commit(session.uid, committed(0, epochOf(1)));

    for (const { v, sessionId, time } of await assertDense(session)) {
      assertEqual(v, 1, "the version");
      assertEqual(sessionId, session.sessionId, "the session");
      assertEqual(Number.isFinite(time), true, "the time is a number");
    }
  }),
  storeCase("what is read later is what was read before, and more", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    const early = await session.store.read(session.uid);
    await claim(session, 0);
    await claim(session, 1, 1);

    const late = await session.store.read(session.uid);

    assertEqual(late.slice(0, 1), early, "the first fact");
    assertEqual(late.length, 3, "how many facts there are");
  }),
];
