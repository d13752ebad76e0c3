import { itemId } from "@millrace/core/writing";
import type { FactBody } from "@millrace/core/writing";
import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import {
  bodyOf,
  committed,
  epochOf,
  prompt,
  run,
  runFinished,
  settlementOf,
  textItem,
  turn,
  turnFinished,
} from "./session-store-bodies.ts";
import {
  accept,
  assertDense,
  assertUnchanged,
  claimedCase,
  open,
} from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

const epoch = epochOf(1);
const started: readonly FactBody[] = [
  { type: "run_started", runId: run },
  { type: "turn_started", runId: run, turnId: turn },
];
const opens = { lane: 0, epoch, itemId: itemId("item_0") };
const ended = [turnFinished(epoch), runFinished(epoch)];

/** Two steps of a driver in one transaction: a turn with its first lane, an item with the end of its run. */
export const togetherCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("a driver's facts and the opening of a lane are one call", async (session) => {
    const { store, uid } = session;

    const answer = await store.append(uid, { incarnation: 1, head: 1, bodies: started, opens });

    const { facts } = assertOutcome(answer, "appended", "the append");
    assertEqual(facts.map(bodyOf), started, "the facts of the answer");
    assertEqual(await store.floors(uid), [{ lane: 0, epoch }], "the floors");
    const request = committed(0, epoch, textItem("item_0"));
    assertOutcome(await store.commit(uid, request), "committed", "the item of that lane");
  }),
  claimedCase("at another head neither the facts nor the lane are stored", async (session) => {
    const { store, uid } = session;
    const before = await store.read(uid);

    const answer = await store.append(uid, { incarnation: 1, head: 0, bodies: started, opens });

    assertOutcome(answer, "moved", "the append");
    assertEqual(await store.floors(uid), [], "the floors");
    await assertUnchanged(session, before, "the append");
  }),
  claimedCase("a lane whose floor is higher keeps the driver's facts out", async (session) => {
    const { store, uid } = session;
    await open(session, 0, epochOf(2));
    const before = await store.read(uid);

    const answer = await store.append(uid, { incarnation: 1, head: 1, bodies: started, opens });

    assertOutcome(answer, "fenced", "the append");
    await assertUnchanged(session, before, "the append");
  }),
  claimedCase("an item and what ends its run are one call", async (session) => {
    const { store, uid } = session;
    await open(session, 0, epoch);
    const request = { ...committed(0, epoch), settlement: settlementOf(0) };

    const answer = await store.commit(uid, { ...request, ahead: { head: 1, bodies: ended } });

    const { facts } = assertOutcome(answer, "committed", "the commit");
    const all = [request.fact, ...request.settlement, ...ended];
    assertEqual(facts.map(bodyOf), all, "the facts of the answer");
    assertEqual((await assertDense(session)).slice(1), facts, "what is read");
    assertEqual(await store.floors(uid), [], "the floors");
  }),
  claimedCase(
    "an item is not stored with an end that was decided before an input",
    async (session) => {
      const { store, uid } = session;
      await open(session, 0, epoch);
      await accept(session, "key", prompt("key"));
      const before = await store.read(uid);
      const request = committed(0, epoch);

      const answer = await store.commit(uid, { ...request, ahead: { head: 1, bodies: ended } });

      assertEqual(answer, { outcome: "moved", head: 2 }, "the commit with the end");
      await assertUnchanged(session, before, "the commit with the end");
      assertOutcome(await store.commit(uid, request), "committed", "the commit without it");
    },
  ),
  claimedCase("an item that exists is the answer, whatever was decided on it", async (session) => {
    const { store, uid } = session;
    await open(session, 0, epoch);
    const request = committed(0, epoch);
    await store.commit(uid, request);
    const before = await store.read(uid);

    const answer = await store.commit(uid, { ...request, ahead: { head: 1, bodies: ended } });

    assertOutcome(answer, "exists", "the second commit");
    await assertUnchanged(session, before, "the second commit");
  }),
];
