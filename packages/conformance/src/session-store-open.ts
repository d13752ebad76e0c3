import { itemId } from "@millrace/core/writing";
import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import {
  bodyOf,
  committed,
  epochOf,
  intentOf,
  run,
  runFinished,
  textItem,
  turnFinished,
} from "./session-store-bodies.ts";
import {
  append,
  assertDense,
  assertUnchanged,
  claim,
  claimedCase,
  open,
} from "./session-store-fixture.ts";
import type { StoreSession, SessionStoreFixture } from "./session-store-fixture.ts";

/** An attempt raises its lane's floor before it writes, or is refused. */
export const openCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("opening a lane raises its floor and stores nothing", async (session) => {
    const answer = await session.store.open(session.uid, {
      lane: 0,
      epoch: epochOf(1),
      itemId: itemId("item_0"),
    });

    assertEqual(answer, { outcome: "opened", head: 1, facts: [] }, "the answer");
    assertEqual(
      await session.store.floors(session.uid),
      [{ lane: 0, epoch: epochOf(1) }],
      "floors",
    );
    assertEqual(await session.store.head(session.uid), 1, "the head");
  }),
  claimedCase("an epoch that is not above the floor is fenced", async (session) => {
    await open(session, 0, epochOf(5, 3));

    for (const epoch of [epochOf(5, 3), epochOf(5, 2), epochOf(4, 9), epochOf(1, 1)]) {
      await assertFenced(session, 0, epoch);
    }

    assertEqual(
      await session.store.floors(session.uid),
      [{ lane: 0, epoch: epochOf(5, 3) }],
      "floors",
    );
  }),
  claimedCase("a later attempt or generation opens the same lane", async (session) => {
    await open(session, 0, epochOf(5, 3));
    await open(session, 0, epochOf(5, 4));
    await open(session, 0, epochOf(6, 1));

    assertEqual(
      await session.store.floors(session.uid),
      [{ lane: 0, epoch: epochOf(6, 1) }],
      "floors",
    );
  }),
  claimedCase("the floor of a lane fences no other lane", async (session) => {
    await open(session, 0, epochOf(9, 9));
    await open(session, 2, epochOf(1, 1));
    await open(session, 1, epochOf(3, 1));

    assertEqual(
      await session.store.floors(session.uid),
      [
        { lane: 0, epoch: epochOf(9, 9) },
        { lane: 1, epoch: epochOf(3, 1) },
        { lane: 2, epoch: epochOf(1, 1) },
      ],
      "the floors, in the order of their lanes",
    );
  }),
  claimedCase("a generation that another lane has opened is fenced", async (session) => {
    await open(session, 0, epochOf(5, 3));

    for (const attempt of [1, 3, 4]) await assertFenced(session, 1, epochOf(5, attempt));
    const opening = await session.store.append(session.uid, {
      incarnation: 1,
      head: 1,
      bodies: [{ type: "run_started", runId: run }],
      opens: { lane: 1, epoch: epochOf(5, 4), itemId: itemId("item_1") },
    });
    assertOutcome(opening, "fenced", "an append that opens it");

    assertEqual(await session.store.head(session.uid), 1, "the head");
    await open(session, 1, epochOf(4));
    await open(session, 2, epochOf(6));
    await open(session, 0, epochOf(5, 4));
  }),
  claimedCase("a generation is fenced on other lanes after its item", async (session) => {
    await open(session, 0, epochOf(5));
    await session.store.commit(session.uid, committed(0, epochOf(5)));

    await assertFenced(session, 1, epochOf(5));
    await assertFenced(session, 1, epochOf(5, 2));
    await open(session, 1, epochOf(6));
  }),
  claimedCase("an epoch by which a driver closes uses up no generation", async (session) => {
    const closing = committed(3, epochOf(5, 4_095)).fact;
    await append(session, [closing]);

    await open(session, 0, epochOf(5));
  }),
  claimedCase("a generation that is open may be opened after the next claim", async (session) => {
    await open(session, 0, epochOf(5));
    await claim(session, 1);

    await open(session, 1, epochOf(5, 1, 2));
  }),
  claimedCase("a writer of another incarnation is fenced", async (session) => {
    await assertFenced(session, 0, epochOf(1, 1, 0));
    await assertFenced(session, 0, epochOf(1, 1, 2));
    await assertFenced(session, 0, epochOf(1, 1, 1_000));

    assertEqual(await session.store.floors(session.uid), [], "the floors");
  }),
  claimedCase("an item that exists is the answer to its reopening", async (session) => {
    await open(session, 0, epochOf(1));
    await session.store.commit(session.uid, committed(0, epochOf(1)));

    for (const epoch of [epochOf(1), epochOf(1, 2), epochOf(9)]) {
      const answer = await session.store.open(session.uid, {
        lane: 0,
        epoch,
        itemId: itemId("item_0"),
        intent: intentOf(0, epoch),
      });
      assertEqual(answer, { outcome: "exists", item: textItem("item_0") }, "the answer");
    }

    assertEqual(await session.store.floors(session.uid), [], "the floors");
    assertEqual(await session.store.head(session.uid), 2, "the head");
  }),
  claimedCase("a committed item leaves its lane to the next generation", async (session) => {
    await open(session, 0, epochOf(2));
    await session.store.commit(session.uid, committed(0, epochOf(2)));

    await assertFenced(session, 0, epochOf(2), "item_next");
    await assertFenced(session, 0, epochOf(1), "item_next");
    await open(session, 0, epochOf(3), "item_next");
  }),
  ...[turnFinished, runFinished].map((finished) =>
    claimedCase(
      `${finished(0).type} closes every lane up to the epoch it names`,
      async (session) => {
        await append(session, [{ type: "run_started", runId: run }]);
        await open(session, 0, epochOf(4));
        await open(session, 1, epochOf(2));
        await append(session, [finished(epochOf(5, 4_095))]);

        assertEqual(await session.store.floors(session.uid), [], "the floors");
        await assertFenced(session, 0, epochOf(5, 1));
        await assertFenced(session, 1, epochOf(3));
        await assertFenced(session, 7, epochOf(5, 4_095));
        await open(session, 7, epochOf(6));
      },
    ),
  ),
  claimedCase("a lane above the epoch that a turn closes stays open", async (session) => {
    await open(session, 0, epochOf(4));
    await open(session, 1, epochOf(6));

    await append(session, [turnFinished(epochOf(5))]);

    assertEqual(
      await session.store.floors(session.uid),
      [{ lane: 1, epoch: epochOf(6) }],
      "floors",
    );
    const answer = await session.store.commit(session.uid, committed(1, epochOf(6)));
    assertOutcome(answer, "committed", "the commit of the open lane");
  }),
  claimedCase("the intent is stored in the step that opens the lane", async (session) => {
    const answer = await session.store.open(session.uid, {
      lane: 1,
      epoch: epochOf(1),
      itemId: itemId("item_1"),
      intent: intentOf(1, epochOf(1)),
    });

    const { head, facts } = assertOutcome(answer, "opened", "the opening");
    assertEqual(head, 2, "the head that the writer knows");
    assertEqual(facts.map(bodyOf), [intentOf(1, epochOf(1))], "the facts of the answer");
    assertEqual(await session.store.read(session.uid, { after: 1 }), facts, "what is read");
  }),
  claimedCase("a fenced opening stores no intent", async (session) => {
    await open(session, 1, epochOf(5));
    const before = await session.store.read(session.uid);

    for (const epoch of [epochOf(5), epochOf(2), epochOf(1, 1, 2)]) {
      const intent = intentOf(1, epoch);
      const answer = await session.store.open(session.uid, {
        lane: 1,
        epoch,
        itemId: intent.itemId,
        intent,
      });
      assertOutcome(answer, "fenced", `the opening by ${epoch}`);
    }

    await assertUnchanged(session, before, "the fenced openings");
  }),
  claimedCase("of one epoch opened many times at once exactly one opens", async (session) => {
    const intent = intentOf(1, epochOf(1));

    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        session.store.open(session.uid, {
          lane: 1,
          epoch: epochOf(1),
          itemId: intent.itemId,
          intent,
        }),
      ),
    );

    const opened = answers.filter(({ outcome }) => outcome === "opened");
    assertEqual(opened.length, 1, "how many opened");
    assertEqual((await assertDense(session)).length, 2, "how many facts there are");
  }),
  claimedCase("attempts that open at once leave the highest as the floor", async (session) => {
    const attempts = [3, 7, 1, 9, 5, 2, 8, 4, 6, 10];

    const answers = await Promise.all(
      attempts.map((attempt) => {
        const epoch = epochOf(1, attempt);
        const intent = intentOf(1, epoch);
        return session.store.open(session.uid, { lane: 1, epoch, itemId: intent.itemId, intent });
      }),
    );

    const opened = answers.filter(({ outcome }) => outcome === "opened").length;
    assertEqual(
      await session.store.floors(session.uid),
      [{ lane: 1, epoch: epochOf(1, 10) }],
      "floor",
    );
    const facts = (await assertDense(session)).slice(1);
    assertEqual(facts.length, opened, "as many intents as openings");
    const epochs = facts.map((fact) => (fact.type === "tool_execution_started" ? fact.epoch : 0));
    assertEqual(
      epochs,
      epochs.toSorted((left, right) => left - right),
      "intents in the order of their epochs",
    );
  }),
];

async function assertFenced(
  { store, uid }: StoreSession,
  lane: number,
  epoch: number,
  id = `item_${lane}`,
): Promise<void> {
  const answer = await store.open(uid, { lane, epoch, itemId: itemId(id) });
  assertOutcome(answer, "fenced", `the opening of lane ${lane} by ${epoch}`);
}
