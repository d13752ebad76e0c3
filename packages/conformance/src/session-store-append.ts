import type { Fact } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import {
  bodyOf,
  committed,
  epochOf,
  inputItem,
  prompt,
  run,
  settlementOf,
  textItem,
  takenBack,
  turn,
} from "./session-store-bodies.ts";
import {
  accept,
  append,
  assertDense,
  assertUnchanged,
  claimedCase,
  newName,
  open,
  storeCase,
} from "./session-store-fixture.ts";
import type { StoreSession, SessionStoreFixture } from "./session-store-fixture.ts";

const started: readonly FactBody[] = [
  { type: "run_started", runId: run },
  { type: "turn_started", runId: run, turnId: turn },
];

/** The driver appends at a head; at any other head its append is refused. */
export const appendCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("the driver's facts are stored in their order", async (session) => {
    const answer = await session.store.append(session.uid, {
      incarnation: 1,
      head: 1,
      bodies: started,
    });

    const { facts } = assertOutcome(answer, "appended", "the append");
    assertEqual(facts.map(bodyOf), started, "the facts of the answer");
    assertEqual(
      facts.map(({ n }) => n),
      [2, 3],
      "their numbers",
    );
    assertEqual(await session.store.read(session.uid, { after: 1 }), facts, "what is read");
  }),
  claimedCase("a decision at a head that has moved stores nothing", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", prompt("input_2"));
    const before = await session.store.read(session.uid);

    for (const head of [0, 1, 2, 4, 1_000]) {
      const answer = await session.store.append(session.uid, {
        incarnation: 1,
        head,
        bodies: started,
      });
      assertEqual(answer, { outcome: "moved", head: 3 }, `the append at ${head}`);
    }

    await assertUnchanged(session, before, "the refused appends");
    const again = await session.store.append(session.uid, {
      incarnation: 1,
      head: 3,
      bodies: started,
    });
    assertOutcome(again, "appended", "the append at the head that is");
  }),
  claimedCase("a driver that does not hold the session appends nothing", async (session) => {
    const before = await session.store.read(session.uid);

    for (const incarnation of [0, 2, 9]) {
      const answer = await session.store.append(session.uid, {
        incarnation,
        head: 1,
        bodies: started,
      });
      assertOutcome(answer, "fenced", `an append by incarnation ${incarnation}`);
    }

    await assertUnchanged(session, before, "the refused appends");
  }),
  claimedCase("of decisions at one head exactly one is stored, and all of it", async (session) => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        session.store.append(session.uid, { incarnation: 1, head: 1, bodies: started }),
      ),
    );

    const appended = answers.filter(({ outcome }) => outcome === "appended");
    assertEqual(appended.length, 1, "how many were stored");
    assertEqual((await assertDense(session)).slice(1).map(bodyOf), started, "the facts");
  }),
  claimedCase(
    "an input accepted meanwhile moves the head of the driver that finishes the run",
    async (session) => {
      await append(session, started);
      await accept(session, "key_1", prompt("input_1"));
      const finished = {
        type: "run_finished",
        runId: run,
        outcome: "completed",
        closes: 0,
      } as const;

      const answer = await session.store.append(session.uid, {
        incarnation: 1,
        head: 3,
        bodies: [finished],
      });

      assertEqual(answer, { outcome: "moved", head: 4 }, "the answer");
    },
  ),
  claimedCase("an input taken back meanwhile does not become an item", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", takenBack("input_1"));

    const answer = await session.store.append(session.uid, {
      incarnation: 1,
      head: 2,
      bodies: [inputItem("input_1")],
    });

    assertEqual(answer, { outcome: "moved", head: 3 }, "the answer");
  }),
  claimedCase("nothing to store is stored at once", async (session) => {
    const answer = await session.store.append(session.uid, { incarnation: 1, head: 1, bodies: [] });

    assertEqual(answer, { outcome: "appended", facts: [] }, "the answer");
    assertEqual(await session.store.head(session.uid), 1, "the head");
  }),
];

/** Facts are numbered without gaps, through every entry point and under concurrency. */
export const denseCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("all three doors at once leave no hole and lose nothing", async (session) => {
    const lanes = Array.from({ length: 20 }, (_, lane) => lane);
    const answers = await Promise.all([
      ...lanes.map((lane) => accept(session, `key_${lane}`, prompt(`input_${lane}`))),
      ...lanes.map((lane) => writeItem(session, lane)),
      ...lanes.map((lane) => decide(session, { type: "opaque", original: { lane } })),
    ]);

    const facts = await assertDense(session);
    const answered = answers.flat().toSorted((left, right) => left.n - right.n);
    assertEqual(facts.slice(1), answered, "what is read, and what the answers contained");
    assertEqual(facts.length, 1 + 20 + 40 + 20, "how many facts there are");
  }),
  storeCase("claims at once with inputs leave no hole", async (session) => {
    const claims = async (): Promise<void> => {
      for (let from = 0; from < 10; from += 1) await session.store.claim(session.uid, { from });
    };
    const inputs = Array.from({ length: 20 }, (_, at) =>
      accept(session, `k${at}`, prompt(`i${at}`)),
    );

    await Promise.all([claims(), claims(), ...inputs]);

    assertEqual((await assertDense(session)).length, 30, "how many facts there are");
  }),
  storeCase("sessions are numbered each for itself", async (session) => {
    const other = { ...session, ...(await session.store.create({ sessionId: newName() })) };
    const keys = Array.from({ length: 10 }, (_, at) => `key_${at}`);

    await Promise.all(
      keys.flatMap((key) => [accept(session, key, prompt(key)), accept(other, key, prompt(key))]),
    );

    assertEqual((await assertDense(session)).length, 10, "the one");
    assertEqual((await assertDense(other)).length, 10, "the other");
  }),
];

async function writeItem(session: StoreSession, lane: number): Promise<readonly Fact[]> {
  await open(session, lane, epochOf(lane + 1));
  const answer = await session.store.commit(session.uid, {
    ...committed(lane, epochOf(lane + 1), textItem(`item_${lane}`)),
    settlement: settlementOf(lane),
  });
  return assertOutcome(answer, "committed", `the item of lane ${lane}`).facts;
}

/** Retries whenever the head has moved, as a driver does. */
async function decide({ store, uid }: StoreSession, body: FactBody): Promise<readonly Fact[]> {
  for (let head = await store.head(uid); ;) {
    const answer = await store.append(uid, { incarnation: 1, head, bodies: [body] });
    if (answer.outcome === "appended") return answer.facts;
    head = assertOutcome(answer, "moved", "the append").head;
  }
}
