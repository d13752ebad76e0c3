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
import type { Scene, SessionStoreFixture } from "./session-store-fixture.ts";

/** After an operator's reset, facts above a number are undone but still stored. */
export const resetCases: readonly Case<SessionStoreFixture>[] = [
  claimedCase("a reset is one more fact, and numbers never go back", async (scene) => {
    await accept(scene, "key_1", prompt("input_1"));
    await append(scene, [{ type: "run_started", runId: run }]);
    const before = await scene.store.read(scene.uid);

    const fact = await claim(scene, 1, 2);

    assertEqual(fact.n, 4, "its number");
    assertEqual(fact.type === "session_claimed" && fact.to, 2, "what it undoes");
    assertEqual(await assertDense(scene), [...before, fact], "the facts");
    assertEqual((await scene.store.find(scene.sessionId))?.incarnation, 2, "the incarnation");
  }),
  claimedCase("the id of an undone item is free for its step to be taken anew", async (scene) => {
    await commit(scene, epochOf(1), "kept");
    await commit(scene, epochOf(2), "undone");
    await claim(scene, 1, 2);

    const epoch = epochOf(1, 1, 2);
    await open(scene, 0, epoch, "undone");
    const anew = committed(0, epoch, textItem("undone", "anew"));
    assertOutcome(await scene.store.commit(scene.uid, anew), "committed", "the commit anew");

    const again = await scene.store.open(scene.uid, { lane: 0, epoch, itemId: itemId("undone") });
    assertEqual(again, { outcome: "exists", item: textItem("undone", "anew") }, "what it is now");
  }),
  claimedCase("an item that stands still exists", async (scene) => {
    await commit(scene, epochOf(1), "kept");
    await commit(scene, epochOf(2), "undone");
    await claim(scene, 1, 2);

    const answer = await scene.store.open(scene.uid, {
      lane: 0,
      epoch: epochOf(1, 1, 2),
      itemId: itemId("kept"),
    });

    assertEqual(answer, { outcome: "exists", item: textItem("kept") }, "the answer");
  }),
  claimedCase("an exchange of an item is undone to what the item was", async (scene) => {
    await commit(scene, epochOf(1), "item", "first");
    await append(scene, [{ type: "item_replaced", item: textItem("item", "second") }]);
    await claim(scene, 1, 2);

    const answer = await scene.store.open(scene.uid, {
      lane: 0,
      epoch: epochOf(1, 1, 2),
      itemId: itemId("item"),
    });

    assertEqual(answer, { outcome: "exists", item: textItem("item", "first") }, "the item");
  }),
  claimedCase("a reset fences all writers before it", async (scene) => {
    await open(scene, 0, epochOf(3), "undone");
    await claim(scene, 1, 1);
    const before = await scene.store.read(scene.uid);

    assertEqual(await scene.store.floors(scene.uid), [], "the floors");
    const late = await scene.store.commit(scene.uid, committed(0, epochOf(3), textItem("undone")));
    assertOutcome(late, "fenced", "a writer's commit");
    const bodies = [{ type: "run_started", runId: run }] as const;
    const decision = await scene.store.append(scene.uid, { incarnation: 1, head: 2, bodies });
    assertOutcome(decision, "fenced", "the former driver's append");
    await assertUnchanged(scene, before, "what came too late");
  }),
  claimedCase("inputs outlive a reset and wait to be taken up again", async (scene) => {
    await append(scene, [{ type: "run_started", runId: run }]);
    await accept(scene, "key_1", prompt("input_1"));
    await accept(scene, "key_2", prompt("input_2"));
    await append(scene, [inputItem("input_1")]);
    await claim(scene, 1, 1);

    const state = await assertReplayed(scene);
    assertEqual(
      state.queue.map((queued) => queued.inputId),
      ["input_1", "input_2"],
      "the queue",
    );
    // The store agrees: what is in the queue can be taken back.
    await accept(scene, "key_3", takenBack("input_1"));
    await accept(scene, "key_4", takenBack("input_2"));
  }),
  claimedCase("what was taken back stays so after a reset", async (scene) => {
    await accept(scene, "key_1", prompt("input_1"));
    await accept(scene, "key_2", takenBack("input_1"));
    await claim(scene, 1, 1);

    const answer = await scene.store.accept(scene.uid, "key_3", takenBack("input_1"));

    assertEqual(answer, { outcome: "refused", reason: "settled" }, "the answer");
  }),
  claimedCase("a key is remembered across a reset", async (scene) => {
    const fact = await accept(scene, "key_1", prompt("input_1"));
    await claim(scene, 1, 0);

    const same = await scene.store.accept(scene.uid, "key_1", prompt("input_1"));
    const other = await scene.store.accept(scene.uid, "key_1", prompt("input_2"));

    assertEqual(same, { outcome: "duplicate", fact }, "the same content");
    assertEqual(other, { outcome: "refused", reason: "key_reused" }, "other content");
  }),
  claimedCase(
    "questions stand or are undone with their facts, and answers with them",
    async (scene) => {
      await append(scene, [{ type: "run_started", runId: run }, asked("answered"), asked("open")]);
      await accept(scene, "key_1", answered("answered"));
      await append(scene, [asked("undone"), asked("undone_too")]);
      await accept(scene, "key_2", answered("undone_too"));
      await claim(scene, 1, 4);

      const answers: string[] = [];
      for (const name of ["answered", "open", "undone", "undone_too"]) {
        const answer = await scene.store.accept(scene.uid, `again_${name}`, answered(name, "deny"));
        answers.push(answer.outcome === "refused" ? answer.reason : answer.outcome);
      }

      assertEqual(answers, ["settled", "accepted", "unknown", "unknown"], "the answers");
      const { approvals } = await assertReplayed(scene);
      assertEqual(
        approvals.map((approval) => approval.answer?.decision),
        ["allow", "deny"],
        "what readers make of it",
      );
    },
  ),
  claimedCase("a second reset reaches further back than the first", async (scene) => {
    await commit(scene, epochOf(1), "a");
    await commit(scene, epochOf(2), "b");
    await commit(scene, epochOf(3), "c");
    await claim(scene, 1, 3);
    await commit(scene, epochOf(1, 1, 2), "c", "again");
    await claim(scene, 2, 2);

    const state = await assertReplayed(scene);
    assertEqual(
      state.items.toArray().map((item) => item.id),
      ["a"],
      "the items",
    );
    await commit(scene, epochOf(1, 1, 3), "b", "again");
    await commit(scene, epochOf(2, 1, 3), "c", "once more");
  }),
  claimedCase("a reset that comes second in a race undoes nothing", async (scene) => {
    await commit(scene, epochOf(1), "a");
    await claim(scene, 1);
    const before = await scene.store.read(scene.uid);

    const late = await scene.store.claim(scene.uid, { from: 1, to: 0 });

    assertEqual(late, { outcome: "moved", incarnation: 2 }, "the answer");
    await assertUnchanged(scene, before, "the late reset");
    const answer = await scene.store.open(scene.uid, {
      lane: 0,
      epoch: epochOf(1, 1, 2),
      itemId: itemId("a"),
    });
    assertOutcome(answer, "exists", "the item");
  }),
];

async function commit(scene: Scene, epoch: number, id: string, text?: string): Promise<void> {
  await open(scene, 0, epoch, id);
  const answer = await scene.store.commit(scene.uid, committed(0, epoch, textItem(id, text)));
  assertOutcome(answer, "committed", `the commit of ${id}`);
}

/** The state by the facts. The store must decide by the same one. */
async function assertReplayed(scene: Scene): Promise<SessionState> {
  const facts = await assertDense(scene);
  const state = replay(emptyState(scene.uid, scene.sessionId), facts);
  const record = await scene.store.find(scene.sessionId);
  assertEqual(record?.incarnation, state.incarnation, "the incarnation");
  assert(record?.head === state.head, "the head");
  for (const item of state.items) {
    const answer = await scene.store.open(scene.uid, {
      lane: 0,
      epoch: epochOf(200_000, 1, state.incarnation),
      itemId: item.id,
    });
    assertEqual(answer, { outcome: "exists", item }, `the item ${item.id}`);
  }
  return state;
}
