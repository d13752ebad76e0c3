import { assert, assertEqual, assertOutcome, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { prompt } from "./session-store-bodies.ts";
import {
  accept,
  assertDense,
  assertUnchanged,
  claim,
  claimedCase,
  newName,
  storeCase,
} from "./session-store-fixture.ts";
import type { SessionStoreFixture, StoreSession } from "./session-store-fixture.ts";

/** Each run of an engine claims a session once, and its incarnation is found by it. */
const onceCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("a run of an engine claims a session once", async (session) => {
    await claimBy(session, 0, "run_1");
    const before = await session.store.read(session.uid);

    for (const request of [{ from: 1 }, { from: 0 }, { from: 1, head: 1 }, { from: 1, to: 0 }]) {
      const answer = await session.store.claim(session.uid, { ...request, by: "run_1" });
      assertEqual(answer, { outcome: "moved", incarnation: 1 }, "the second claim");
    }

    await assertUnchanged(session, before, "the refused claims");
    assertEqual(await session.store.claimedBy(session.uid, "run_1"), 1, "its incarnation");
    await claim(session, 1);
  }),
  storeCase("a run of an engine whose claim was refused may claim later", async (session) => {
    const refused = await session.store.claim(session.uid, { from: 3, by: "run_1" });

    assertEqual(refused, { outcome: "moved", incarnation: 0 }, "the refused claim");
    assertEqual(await session.store.claimedBy(session.uid, "run_1"), undefined, "after it");
    await claimBy(session, 0, "run_1");
  }),
  storeCase("what a run of an engine has claimed is known after other claims", async (session) => {
    const { store, uid } = session;
    await claimBy(session, 0, "run_1");
    await claim(session, 1);
    await accept(session, "key", prompt("input"));
    await claimBy(session, 2, "run_2");

    assertEqual(await store.claimedBy(uid, "run_1"), 1, "the incarnation of the first");
    assertEqual(await store.claimedBy(uid, "run_2"), 3, "the incarnation of the second");
    assertEqual(await store.claimedBy(uid, "run_3"), undefined, "of one that never claimed");
    const late = await store.claim(uid, { from: 3, by: "run_1" });
    assertEqual(late, { outcome: "moved", incarnation: 3 }, "a late claim of the first");
    assertEqual(await store.claimedBy(uid, "run_1"), 1, "the incarnation after that");
  }),
  storeCase("of claims of one run at once exactly one succeeds", async (session) => {
    const { store, uid } = session;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => store.claim(uid, { from: at % 3, by: "run_1" })),
    );

    const won = answers.filter(({ outcome }) => outcome === "claimed");
    assertEqual(won.length, 1, "how many succeeded");
    assertEqual((await assertDense(session)).length, 1, "how many facts there are");
    assertEqual(await store.claimedBy(uid, "run_1"), 1, "its incarnation");
  }),
  storeCase("of runs that claim at once only the one that succeeded is known", async (session) => {
    const { store, uid } = session;
    const runs = Array.from({ length: 10 }, (_, at) => `run_${at}`);
    const answers = await Promise.all(runs.map((by) => store.claim(uid, { from: 0, by })));

    const won = answers.filter(({ outcome }) => outcome === "claimed");
    assertEqual(won.length, 1, "how many succeeded");
    for (const [at, by] of runs.entries()) {
      const expected = answers[at]?.outcome === "claimed" ? 1 : undefined;
      assertEqual(await store.claimedBy(uid, by), expected, `the incarnation of ${by}`);
    }
  }),
];

const keptCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("the fact of an engine's claim does not name its run", async (session) => {
    await claimBy(session, 0, "run_1");

    const [fact] = await assertDense(session);

    const { sessionId } = session;
    const envelope = { v: 1, n: 1, sessionId, time: fact?.time };
    assertEqual(fact, { ...envelope, type: "session_claimed", incarnation: 1 }, "the fact");
  }),
  claimedCase("a fork has none of the claims of its source's engines", async (session) => {
    const { store, uid } = session;
    await claimBy(session, 1, "run_1");
    const fork = { store, ...(await store.fork(uid, { sessionId: newName(), n: 2 })) };

    assertEqual(await store.claimedBy(fork.uid, "run_1"), undefined, "in the fork");
    await claimBy(fork, 2, "run_1");
    assertEqual(await store.claimedBy(fork.uid, "run_1"), 3, "in the fork after its claim");
    assertEqual(await store.claimedBy(uid, "run_1"), 2, "in the source");
  }),
  storeCase("removing a session removes the claims of engines", async (session) => {
    const { store, uid, sessionId } = session;
    await claimBy(session, 0, "run_1");
    await store.remove(uid);

    await assertRejects(() => store.claimedBy(uid, "run_1"), "unknown_session", "of the removed");
    const next = { store, ...(await store.create({ sessionId })) };
    assertEqual(await store.claimedBy(next.uid, "run_1"), undefined, "of the next of that name");
    await claimBy(next, 0, "run_1");
  }),
  storeCase("an engine's run that a reset has undone does not claim again", async (session) => {
    const { store, uid } = session;
    await accept(session, "key", prompt("input"));
    await claimBy(session, 0, "run_1");
    await claim(session, 1, 1);

    assertEqual(await store.claimedBy(uid, "run_1"), 1, "after a reset");
    const reset = await store.claim(uid, { from: 2, to: 0, by: "run_2" });
    assertOutcome(reset, "claimed", "a reset by another run");
    assertEqual(await store.claimedBy(uid, "run_1"), 1, "after the second reset");
    assertEqual(await store.claimedBy(uid, "run_2"), 3, "the run that reset");
    for (const by of ["run_1", "run_2"]) {
      const answer = await store.claim(uid, { from: 3, by });
      assertEqual(answer, { outcome: "moved", incarnation: 3 }, `another claim of ${by}`);
    }
  }),
  storeCase("runs of engines whose names differ in little are different ones", async (session) => {
    const { store, uid } = session;
    const longest = "r".repeat(200);
    const names = ["run", "Run", "run ", "run\u0000", "\u00e9", "e\u0301", "\ufffd", longest];
    for (const [from, by] of names.entries()) await claimBy(session, from, by);

    for (const [at, by] of names.entries())
      assertEqual(await store.claimedBy(uid, by), at + 1, `the incarnation of run ${at}`);
  }),
  storeCase("what can't be the run of an engine is refused", async (session) => {
    const { store, uid } = session;
    for (const by of ["", "r".repeat(201), "half a pair \ud800"]) {
      await assertRejects(() => store.claim(uid, { from: 0, by }), "invalid_id", "the claim");
      await assertRejects(() => store.claimedBy(uid, by), "invalid_id", "the look-up");
    }

    assertEqual(await store.head(uid), 0, "the head");
    assert((await store.find(session.sessionId))?.incarnation === 0, "nobody has claimed it");
  }),
];

export const engineCases: readonly Case<SessionStoreFixture>[] = [...onceCases, ...keptCases];

/** Claims the session for a run of an engine. Must succeed. */
async function claimBy({ store, uid }: StoreSession, from: number, by: string): Promise<void> {
  const answer = await store.claim(uid, { from, by });
  const { incarnation } = assertOutcome(answer, "claimed", `the claim of ${by}`);
  assertEqual(incarnation, from + 1, "the incarnation");
}
