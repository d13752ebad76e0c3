import { itemId } from "@millrace/core/writing";
import { assert, assertEqual, assertOutcome, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import {
  committed,
  epochOf,
  inputItem,
  prompt,
  run,
  takenBack,
  textItem,
} from "./session-store-bodies.ts";
import {
  accept,
  append,
  assertDense,
  assertUnchanged,
  claim,
  claimedCase,
  newName,
  open,
  storeCase,
} from "./session-store-fixture.ts";
import type { StoreSession, SessionStoreFixture } from "./session-store-fixture.ts";

/** A fork begins with another session's past and shares nothing of its future. */
export const forkCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("a fork has the facts up to its number, under its own name", async (session) => {
    await writeSome(session);
    const facts = await session.store.read(session.uid);

    for (const n of [0, 1, 3, facts.length]) {
      const fork = await forkAt(session, n);
      const expected = facts.slice(0, n).map((fact) => ({ ...fact, sessionId: fork.sessionId }));
      assertEqual(await assertDense(fork), expected, `the facts of a fork at ${n}`);
      const record = await session.store.find(fork.sessionId);
      assertEqual(record?.head, n, "its head");
      assertEqual(record?.uid, fork.uid, "its uid");
      assert(fork.uid !== session.uid, "a uid of its own");
    }
  }),
  claimedCase("a fork goes on from the incarnation of its facts", async (session) => {
    await claim(session, 1);
    await claim(session, 2);
    const fork = await forkAt(session, 2);

    assertEqual((await session.store.find(fork.sessionId))?.incarnation, 2, "the incarnation");
    const stale = await session.store.claim(fork.uid, { from: 3 });
    assertEqual(stale, { outcome: "moved", incarnation: 2 }, "a claim from the source's");
    await claim(fork, 2);
  }),
  claimedCase("what follows a fork is seen in one of the two only", async (session) => {
    await writeSome(session);
    const fork = await forkAt(session, 3);
    const source = await session.store.read(session.uid);

    await accept(fork, "key_9", prompt("input_9"));
    await claim(fork, 1);
    await assertUnchanged(session, source, "what was written to the fork");

    const own = await fork.store.read(fork.uid);
    await accept(session, "key_8", prompt("input_8"));
    await claim(session, 1);
    await assertUnchanged(fork, own, "what was written to the source");
  }),
  claimedCase("an item before the fork exists there, one after it does not", async (session) => {
    await open(session, 0, epochOf(1), "early");
    await session.store.commit(session.uid, committed(0, epochOf(1), textItem("early")));
    const n = await session.store.head(session.uid);
    await open(session, 0, epochOf(2), "late");
    await session.store.commit(session.uid, committed(0, epochOf(2), textItem("late")));
    const fork = await forkAt(session, n);
    await claim(fork, 1);

    const early = await fork.store.open(fork.uid, {
      lane: 0,
      epoch: epochOf(1, 1, 2),
      itemId: itemId("early"),
    });
    assertEqual(early, { outcome: "exists", item: textItem("early") }, "the early item");
    await open(fork, 0, epochOf(1, 1, 2), "late");
    const late = committed(0, epochOf(1, 1, 2), textItem("late", "another ending"));
    assertOutcome(await fork.store.commit(fork.uid, late), "committed", "the late item");
  }),
  claimedCase("lanes that are open in the source are not open in the fork", async (session) => {
    await open(session, 0, epochOf(1));
    const fork = await forkAt(session, 1);

    assertEqual(await fork.store.floors(fork.uid), [], "the fork's floors");
    const foreign = await fork.store.commit(fork.uid, committed(0, epochOf(1)));
    assertOutcome(foreign, "fenced", "the source's writer in the fork");
    const own = await session.store.commit(session.uid, committed(0, epochOf(1)));
    assertOutcome(own, "committed", "the source's writer at home");
  }),
  claimedCase("the queue of a fork is that of its facts", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", prompt("input_2"));
    await append(session, [inputItem("input_1")]);
    await accept(session, "key_3", takenBack("input_2"));
    const whole = await forkAt(session, 5);
    const early = await forkAt(session, 3);

    const settled = { outcome: "refused", reason: "settled" } as const;
    const late = await whole.store.accept(whole.uid, "k1", takenBack("input_1"));
    assertEqual(late, settled, "an input that was an item");
    assertEqual(await whole.store.accept(whole.uid, "k2", takenBack("input_2")), settled, "taken");
    await accept(early, "k1", takenBack("input_1"));
    await accept(early, "k2", takenBack("input_2"));
  }),
  claimedCase("a fork of a session that was reset has its reset too", async (session) => {
    await open(session, 0, epochOf(1), "undone");
    await session.store.commit(session.uid, committed(0, epochOf(1), textItem("undone")));
    await claim(session, 1, 1);
    const fork = await forkAt(session, 3);
    await claim(fork, 2);

    await open(fork, 0, epochOf(1, 1, 3), "undone");
  }),
  claimedCase("a fork needs a name of its own and leaves nothing without one", async (session) => {
    const { store, uid, sessionId } = session;

    await assertRejects(() => store.fork(uid, { sessionId, n: 1 }), "session_exists", "the fork");

    assertEqual((await store.find(sessionId))?.uid, uid, "the session of that name");
  }),
  claimedCase("a fork has the metadata that it is given", async ({ store, uid }) => {
    const metadata = { title: "another way" };

    const fork = await store.fork(uid, { sessionId: newName(), n: 1, metadata });

    assertEqual(fork.metadata, metadata, "the answer");
    assertEqual(await store.find(fork.sessionId), fork, "what is found");
  }),
  storeCase("a fork that is given no metadata has its source's", async ({ store }) => {
    const metadata = { title: "one way", tags: ["a"] };
    const source = await store.create({ sessionId: newName(), metadata });

    const fork = await store.fork(source.uid, { sessionId: newName(), n: 0 });

    assertEqual(fork.metadata, metadata, "the answer");
    assertEqual(await store.find(fork.sessionId), fork, "what is found");
  }),
  claimedCase("inputs of a fork are there from the start", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    const added = [takenBack("input_1"), prompt("input_2")];

    const fork = await session.store.fork(session.uid, { sessionId: newName(), n: 2, added });

    const facts = await session.store.read(fork.uid);
    assertEqual(fork.head, 4, "the head");
    assertEqual(
      facts.map(({ type, n }) => `${n} ${type}`),
      ["1 session_claimed", "2 input_accepted", "3 queue_updated", "4 input_accepted"],
      "its facts",
    );
    assertEqual(await session.store.head(session.uid), 2, "the source's head");
  }),
  claimedCase("inputs of a fork that can't be accepted are left out", async (session) => {
    const added = [takenBack("input_none"), prompt("input_2"), prompt("input_2")];

    const fork = await session.store.fork(session.uid, { sessionId: newName(), n: 1, added });

    assertEqual(fork.head, 2, "the head");
  }),
  claimedCase("a fork outlives its source", async (session) => {
    await writeSome(session);
    const fork = await forkAt(session, 4);
    const before = await fork.store.read(fork.uid);

    await session.store.remove(session.uid);

    await assertUnchanged(fork, before, "the removal of its source");
  }),
];

async function forkAt(session: StoreSession, n: number): Promise<StoreSession> {
  const { uid, sessionId } = await session.store.fork(session.uid, { sessionId: newName(), n });
  return { store: session.store, uid, sessionId };
}

async function writeSome(session: StoreSession): Promise<void> {
  await accept(session, "key_1", prompt("input_1"));
  await append(session, [{ type: "run_started", runId: run }, inputItem("input_1")]);
  await open(session, 0, epochOf(1));
  await session.store.commit(session.uid, committed(0, epochOf(1)));
}
