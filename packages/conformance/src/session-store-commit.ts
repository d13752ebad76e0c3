import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import {
  bodyOf,
  committed,
  epochOf,
  runFinished,
  settlementOf,
  textItem,
  turnFinished,
} from "./session-store-bodies.ts";
import {
  append,
  assertDense,
  assertUnchanged,
  claimedCase,
  open,
} from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

const epoch = epochOf(1);

/** One item for each reserved id, committed by the holder of the lane. */
export const commitCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("the holder of a lane commits its item, which closes the lane", async (session) => {
    await open(session, 0, epoch);

    const answer = await session.store.commit(session.uid, committed(0, epoch));

    const { facts } = assertOutcome(answer, "committed", "the commit");
    assertEqual(facts.map(bodyOf), [committed(0, epoch).fact], "the facts of the answer");
    assertEqual(await session.store.read(session.uid, { after: 1 }), facts, "what is read");
    assertEqual(await session.store.floors(session.uid), [], "the floors");
  }),
  claimedCase("without an opening there is no commit", async (session) => {
    const before = await session.store.read(session.uid);

    const answer = await session.store.commit(session.uid, committed(0, epoch));

    assertOutcome(answer, "fenced", "a commit in a lane that was not opened");
    await assertUnchanged(session, before, "the fenced commit");
  }),
  claimedCase("an older attempt is fenced once a newer one has opened", async (session) => {
    await open(session, 0, epochOf(1, 1));
    await open(session, 0, epochOf(1, 2));
    const before = await session.store.read(session.uid);

    const late = await session.store.commit(session.uid, committed(0, epochOf(1, 1)));

    assertOutcome(late, "fenced", "the older attempt's commit");
    await assertUnchanged(session, before, "the fenced commit");
    const answer = await session.store.commit(session.uid, committed(0, epochOf(1, 2)));
    assertOutcome(answer, "committed", "the newer attempt's commit");
  }),
  claimedCase("an epoch above the floor that did not open is fenced", async (session) => {
    await open(session, 0, epochOf(1, 1));

    const answer = await session.store.commit(session.uid, committed(0, epochOf(1, 2)));

    assertOutcome(answer, "fenced", "a commit by an attempt that did not open");
  }),
  claimedCase("holding one lane is not holding another", async (session) => {
    await open(session, 0, epoch);
    await open(session, 1, epochOf(2));

    const answer = await session.store.commit(session.uid, committed(1, epoch));

    assertOutcome(answer, "fenced", "lane 0's holder in lane 1");
  }),
  claimedCase("a commit in one lane leaves the other lanes open", async (session) => {
    await open(session, 0, epochOf(5));
    await open(session, 1, epochOf(2));
    await session.store.commit(session.uid, committed(0, epochOf(5)));

    assertEqual(
      await session.store.floors(session.uid),
      [{ lane: 1, epoch: epochOf(2) }],
      "floors",
    );
    const answer = await session.store.commit(session.uid, committed(1, epochOf(2)));
    assertOutcome(answer, "committed", "the commit in lane 1");
  }),
  claimedCase("an item that exists is the answer to every later commit", async (session) => {
    await open(session, 0, epoch);
    await session.store.commit(session.uid, committed(0, epoch));
    const before = await session.store.read(session.uid);

    for (const late of [epoch, epochOf(1, 2), epochOf(7)]) {
      const other = committed(0, late, textItem("item_0", "something else"));
      const answer = await session.store.commit(session.uid, {
        ...other,
        settlement: settlementOf(0),
      });
      assertEqual(answer, { outcome: "exists", item: textItem("item_0") }, "the answer");
    }

    await assertUnchanged(session, before, "the commits of an item that exists");
  }),
  claimedCase("of commits of one item at once exactly one stores it", async (session) => {
    await open(session, 0, epoch);

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => session.store.commit(session.uid, committed(0, epoch))),
    );

    const outcomes = answers.map(({ outcome }) => outcome);
    assertEqual(outcomes.filter((outcome) => outcome === "committed").length, 1, "committed");
    assertEqual(outcomes.filter((outcome) => outcome === "exists").length, 9, "exists");
    assertEqual((await assertDense(session)).length, 2, "how many facts there are");
  }),
  claimedCase("a lane that is closed takes no second item of its epoch", async (session) => {
    await open(session, 0, epoch);
    await session.store.commit(session.uid, committed(0, epoch));

    const answer = await session.store.commit(session.uid, committed(0, epoch, textItem("other")));

    assertOutcome(answer, "fenced", "a second item");
  }),
  ...[turnFinished, runFinished].map((finished) =>
    claimedCase(
      `nothing is committed after the ${finished(0).type} that closed it`,
      async (session) => {
        await open(session, 0, epoch);
        await append(session, [finished(epoch)]);
        const before = await session.store.read(session.uid);

        const answer = await session.store.commit(session.uid, committed(0, epoch));

        assertOutcome(answer, "fenced", "the late commit");
        await assertUnchanged(session, before, "the late commit");
      },
    ),
  ),
];
