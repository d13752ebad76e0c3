import { emptyState, replay } from "@millrace/core/reading";
import { itemId } from "@millrace/core/writing";
import type { SessionState } from "@millrace/core";
import { assert, assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import {
  answered,
  asked,
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
  open,
} from "./session-store-fixture.ts";
import type { StoreSession, SessionStoreFixture } from "./session-store-fixture.ts";

/** After an operator's reset, facts above a number are undone but still stored. */
export const resetCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("a reset is one more fact, and numbers never go back", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    await append(session, [{ type: "run_started", runId: run }]);
    const before = await session.store.read(session.uid);

    const fact = await claim(session, 1, 2);

    assertEqual(fact.n, 4, "its number");
    assertEqual(fact.type === "session_claimed" && fact.to, 2, "what it undoes");
    assertEqual(await assertDense(session), [...before, fact], "the facts");
    assertEqual((await session.store.find(session.sessionId))?.incarnation, 2, "the incarnation");
  }),
  claimedCase("the id of an undone item is free for its step to be taken anew", async (session) => {
    await commit(session, epochOf(1), "kept");
    await commit(session, epochOf(2), "undone");
    await claim(session, 1, 2);

    const epoch = epochOf(1, 1, 2);
    await open(session, 0, epoch, "undone");
    const anew = committed(0, epoch, textItem("undone", "anew"));
    assertOutcome(await session.store.commit(session.uid, anew), "committed", "the commit anew");

    const again = await session.store.open(session.uid, {
      lane: 0,
      epoch,
      itemId: itemId("undone"),
    });
    assertEqual(again, { outcome: "exists", item: textItem("undone", "anew") }, "what it is now");
  }),
  claimedCase("an item that stands still exists", async (session) => {
    await commit(session, epochOf(1), "kept");
    await commit(session, epochOf(2), "undone");
    await claim(session, 1, 2);

    const answer = await session.store.open(session.uid, {
      lane: 0,
      epoch: epochOf(1, 1, 2),
      itemId: itemId("kept"),
    });

    assertEqual(answer, { outcome: "exists", item: textItem("kept") }, "the answer");
  }),
  claimedCase("an exchange of an item is undone to what the item was", async (session) => {
    await commit(session, epochOf(1), "item", "first");
    await append(session, [{ type: "item_replaced", item: textItem("item", "second") }]);
    await claim(session, 1, 2);

    const answer = await session.store.open(session.uid, {
      lane: 0,
      epoch: epochOf(1, 1, 2),
      itemId: itemId("item"),
    });

    assertEqual(answer, { outcome: "exists", item: textItem("item", "first") }, "the item");
  }),
  claimedCase("a reset fences all writers before it", async (session) => {
    await open(session, 0, epochOf(3), "undone");
    await claim(session, 1, 1);
    const before = await session.store.read(session.uid);

    assertEqual(await session.store.floors(session.uid), [], "the floors");
    const late = await session.store.commit(
      session.uid,
      committed(0, epochOf(3), textItem("undone")),
    );
    assertOutcome(late, "fenced", "a writer's commit");
    const bodies = [{ type: "run_started", runId: run }] as const;
    const decision = await session.store.append(session.uid, { incarnation: 1, head: 2, bodies });
    assertOutcome(decision, "fenced", "the former driver's append");
    await assertUnchanged(session, before, "what came too late");
  }),
  claimedCase("inputs outlive a reset and wait to be taken up again", async (session) => {
    await append(session, [{ type: "run_started", runId: run }]);
    await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", prompt("input_2"));
    await append(session, [inputItem("input_1")]);
    await claim(session, 1, 1);

    const state = await assertReplayed(session);
    assertEqual(
      state.queue.map((queued) => queued.inputId),
      ["input_1", "input_2"],
      "the queue",
    );
    // The store agrees: what is in the queue can be taken back.
    await accept(session, "key_3", takenBack("input_1"));
    await accept(session, "key_4", takenBack("input_2"));
  }),
  claimedCase("what was taken back stays so after a reset", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", takenBack("input_1"));
    await claim(session, 1, 1);

    const answer = await session.store.accept(session.uid, "key_3", takenBack("input_1"));

    assertEqual(answer, { outcome: "refused", reason: "settled" }, "the answer");
  }),
  claimedCase("a key is remembered across a reset", async (session) => {
    const fact = await accept(session, "key_1", prompt("input_1"));
    await claim(session, 1, 0);

    const same = await session.store.accept(session.uid, "key_1", prompt("input_1"));
    const other = await session.store.accept(session.uid, "key_1", prompt("input_2"));

    assertEqual(same, { outcome: "duplicate", fact }, "the same content");
    assertEqual(other, { outcome: "refused", reason: "key_reused" }, "other content");
  }),
  claimedCase(
    "questions stand or are undone with their facts, and answers with them",
    async (session) => {
      await append(session, [
        { type: "run_started", runId: run },
        asked("answered"),
        asked("open"),
      ]);
      await accept(session, "key_1", answered("answered"));
      await append(session, [asked("undone"), asked("undone_too")]);
      await accept(session, "key_2", answered("undone_too"));
      await claim(session, 1, 4);

      const answers: string[] = [];
      for (const name of ["answered", "open", "undone", "undone_too"]) {
        const answer = await session.store.accept(
          session.uid,
          `again_${name}`,
          answered(name, "deny"),
        );
        answers.push(answer.outcome === "refused" ? answer.reason : answer.outcome);
      }

      assertEqual(answers, ["settled", "accepted", "unknown", "unknown"], "the answers");
      const { approvals } = await assertReplayed(session);
      assertEqual(
        approvals.map((approval) => approval.answer?.decision),
        ["allow", "deny"],
        "what readers make of it",
      );
    },
  ),
  claimedCase("a second reset reaches further back than the first", async (session) => {
    await commit(session, epochOf(1), "a");
    await commit(session, epochOf(2), "b");
    await commit(session, epochOf(3), "c");
    await claim(session, 1, 3);
    await commit(session, epochOf(1, 1, 2), "c", "again");
    await claim(session, 2, 2);

    const state = await assertReplayed(session);
    assertEqual(
      state.items.toArray().map((item) => item.id),
      ["a"],
      "the items",
    );
    await commit(session, epochOf(1, 1, 3), "b", "again");
    await commit(session, epochOf(2, 1, 3), "c", "once more");
  }),
  claimedCase("a reset that comes second in a race undoes nothing", async (session) => {
    await commit(session, epochOf(1), "a");
    await claim(session, 1);
    const before = await session.store.read(session.uid);

    const late = await session.store.claim(session.uid, { from: 1, to: 0 });

    assertEqual(late, { outcome: "moved", incarnation: 2 }, "the answer");
    await assertUnchanged(session, before, "the late reset");
    const answer = await session.store.open(session.uid, {
      lane: 0,
      epoch: epochOf(1, 1, 2),
      itemId: itemId("a"),
    });
    assertOutcome(answer, "exists", "the item");
  }),
];

async function commit(
  session: StoreSession,
  epoch: number,
  id: string,
  text?: string,
): Promise<void> {
  await open(session, 0, epoch, id);
  const answer = await session.store.commit(session.uid, committed(0, epoch, textItem(id, text)));
  assertOutcome(answer, "committed", `the commit of ${id}`);
}

/** The state by the facts. The store must decide by the same one. */
async function assertReplayed(session: StoreSession): Promise<SessionState> {
  const facts = await assertDense(session);
  const state = replay(emptyState(session.uid, session.sessionId), facts);
  const record = await session.store.find(session.sessionId);
  assertEqual(record?.incarnation, state.incarnation, "the incarnation");
  assert(record?.head === state.head, "the head");
  for (const item of state.items) {
    const answer = await session.store.open(session.uid, {
      lane: 0,
      epoch: epochOf(200_000, 1, state.incarnation),
      itemId: item.id,
    });
    assertEqual(answer, { outcome: "exists", item }, `the item ${item.id}`);
  }
  return state;
}
