import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import { committed, epochOf, run } from "./session-store-bodies.ts";
import {
  append,
  assertDense,
  assertUnchanged,
  claim,
  claimedCase,
  open,
  storeCase,
} from "./session-store-fixture.ts";
import { itemId } from "@millrace/core/writing";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** Exactly one driver holds a session, and claiming it is a fact. */
export const claimCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("the first claim gives incarnation 1 and is the first fact", async (session) => {
    const answer = await session.store.claim(session.uid, { from: 0 });

    const { incarnation, facts } = assertOutcome(answer, "claimed", "the claim");
    assertEqual(incarnation, 1, "the incarnation");
    const [fact] = facts;
    assertEqual(
      fact,
      {
        v: 1,
        n: 1,
        sessionId: session.sessionId,
        time: fact?.time,
        type: "session_claimed",
        incarnation: 1,
      },
      "the fact",
    );
    await assertUnchanged(session, facts, "the claim");
  }),
  storeCase(
    "a claim from another incarnation is answered with the one that is",
    async (session) => {
      await claim(session, 0);
      await claim(session, 1);
      const before = await session.store.read(session.uid);

      for (const from of [0, 1, 3, 1_000]) {
        const answer = await session.store.claim(session.uid, { from });
        assertEqual(answer, { outcome: "moved", incarnation: 2 }, `the claim from ${from}`);
      }

      await assertUnchanged(session, before, "the refused claims");
    },
  ),
  storeCase(
    "a claim that resumes a run names it, and is refused if facts have come",
    async (session) => {
      await claim(session, 0);
      const head = await session.store.head(session.uid);
      const before = await session.store.read(session.uid);

      for (const read of [head - 1, head + 1]) {
        const answer = await session.store.claim(session.uid, {
          from: 1,
          head: read,
          resumes: run,
        });
        assertEqual(answer, { outcome: "moved", incarnation: 1 }, `the claim at head ${read}`);
      }
      await assertUnchanged(session, before, "the refused claims");
      const answer = await session.store.claim(session.uid, { from: 1, head, resumes: run });
      const { facts } = assertOutcome(answer, "claimed", "the claim");
      const [fact] = facts;
      assertEqual(fact?.type === "session_claimed" ? fact.resumes : undefined, run, "the run");
      await assertUnchanged(session, [...before, ...facts], "the claim");
    },
  ),
  storeCase("of claims at once exactly one succeeds", async (session) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => session.store.claim(session.uid, { from: 0 })),
    );

    const won = answers.filter((answer) => answer.outcome === "claimed");
    assertEqual(won.length, 1, "how many succeeded");
    for (const answer of answers) assertEqual(answer.incarnation, 1, "the incarnation");
    assertEqual((await assertDense(session)).length, 1, "how many facts there are");
  }),
  storeCase("each claim raises the incarnation by one", async (session) => {
    for (let from = 0; from < 12; from += 1) await claim(session, from);

    const facts = await assertDense(session);

    const incarnations = facts.map((fact) => "incarnation" in fact && fact.incarnation);
    assertEqual(
      incarnations,
      facts.map((_, at) => at + 1),
      "the incarnations",
    );
  }),
  claimedCase("a claim closes the lanes of the driver before", async (session) => {
    await open(session, 0, epochOf(1));
    await open(session, 3, epochOf(2));

    await claim(session, 1);

    assertEqual(await session.store.floors(session.uid), [], "the floors");
    const late = await session.store.commit(session.uid, committed(0, epochOf(1)));
    assertOutcome(late, "fenced", "a commit by the former driver's writer");
  }),
  claimedCase("a claim keeps writers of the former driver from opening", async (session) => {
    await claim(session, 1);

    const late = await session.store.open(session.uid, {
      lane: 0,
      epoch: epochOf(200_000, 4_000, 1),
      itemId: itemId("item_0"),
    });

    assertOutcome(late, "fenced", "an open of the former incarnation");
  }),
  claimedCase("a claim fences the former driver's decisions", async (session) => {
    await claim(session, 1);
    const before = await session.store.read(session.uid);
    const bodies = [{ type: "run_started", runId: run }] as const;

    const late = await session.store.append(session.uid, { incarnation: 1, head: 2, bodies });

    assertOutcome(late, "fenced", "the former driver's append");
    await assertUnchanged(session, before, "the refused append");
    await append(session, bodies, 2);
  }),
  claimedCase("the new driver's generations begin anew above all that was", async (session) => {
    await open(session, 0, epochOf(200_000, 4_000));
    await claim(session, 1);

    await open(session, 0, epochOf(1, 1, 2));

    assertEqual(
      await session.store.floors(session.uid),
      [{ lane: 0, epoch: epochOf(1, 1, 2) }],
      "it",
    );
  }),
  claimedCase(
    "a claim and a commit at once: the item is there before the claim or not at all",
    async (session) => {
      for (let round = 1; round <= 10; round += 1) {
        const id = `item_${round}`;
        const epoch = epochOf(round, 1, round);
        await open(session, 0, epoch, id);

        const item = { ...committed(0, epoch).fact.item, id: itemId(id) };
        const [commit] = await Promise.all([
          session.store.commit(session.uid, committed(0, epoch, item)),
          claim(session, round),
        ]);

        const facts = await assertDense(session);
        const [last, before] = [facts.at(-1), facts.at(-2)];
        assertEqual(last?.type, "session_claimed", "the last fact");
        const stored = before?.type === "item_committed";
        assertEqual(stored, commit.outcome === "committed", "the item is stored as was answered");
      }
    },
  ),
];
