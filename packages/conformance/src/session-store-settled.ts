import { assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import {
  answered,
  asked,
  bodyOf,
  inputItem,
  prompt,
  run,
  takenBack,
} from "./session-store-bodies.ts";
import { accept, append, claimedCase, storeCase } from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** An input can be taken back, and a question answered, only while it is open. */
export const settledCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("an input in the queue can be taken back", async (session) => {
    await accept(session, "key_1", prompt("input_1"));

    const fact = await accept(session, "key_2", takenBack("input_1"));

    assertEqual(bodyOf(fact), takenBack("input_1"), "the fact");
  }),
  storeCase("an input taken back can't be taken back again", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    const first = await accept(session, "key_2", takenBack("input_1"));

    const same = await session.store.accept(session.uid, "key_2", takenBack("input_1"));
    const other = await session.store.accept(session.uid, "key_3", takenBack("input_1"));

    assertEqual(same, { outcome: "duplicate", fact: first }, "under the same key");
    assertEqual(other, { outcome: "refused", reason: "settled" }, "under another key");
  }),
  claimedCase("an input that became an item can't be taken back", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", prompt("input_2"));
    await append(session, [inputItem("input_1")]);

    const late = await session.store.accept(session.uid, "key_3", takenBack("input_1"));

    assertEqual(late, { outcome: "refused", reason: "settled" }, "the item's input");
    await accept(session, "key_4", takenBack("input_2"));
  }),
  storeCase("an input that never was can't be taken back", async (session) => {
    const answer = await session.store.accept(session.uid, "key_1", takenBack("input_1"));

    assertEqual(answer, { outcome: "refused", reason: "unknown" }, "the answer");
    assertEqual(await session.store.head(session.uid), 0, "the head");
  }),
  storeCase("a refusal does not use up its key", async (session) => {
    await session.store.accept(session.uid, "key_1", takenBack("input_1"));

    await accept(session, "key_1", prompt("input_1"));
  }),
  storeCase("of two requests to take back the same input at once one succeeds", async (session) => {
    await accept(session, "key_1", prompt("input_1"));

    const answers = await Promise.all(
      ["key_2", "key_3"].map((key) => session.store.accept(session.uid, key, takenBack("input_1"))),
    );

    const outcomes = answers.map(({ outcome }) => outcome).toSorted();
    assertEqual(outcomes, ["accepted", "refused"], "the answers");
  }),
  claimedCase("a question is answered once", async (session) => {
    await append(session, [{ type: "run_started", runId: run }, asked("a"), asked("b")]);

    const fact = await accept(session, "key_1", answered("a", "deny"));
    const late = await session.store.accept(session.uid, "key_2", answered("a", "allow"));
    const same = await session.store.accept(session.uid, "key_1", answered("a", "deny"));

    assertEqual(bodyOf(fact), answered("a", "deny"), "the fact");
    assertEqual(late, { outcome: "refused", reason: "settled" }, "the second answer");
    assertEqual(same, { outcome: "duplicate", fact }, "the first answer again");
    await accept(session, "key_3", answered("b"));
  }),
  claimedCase(
    "a question's answer keeps its actor, and a repeat by another is the same",
    async (session) => {
      await append(session, [{ type: "run_started", runId: run }, asked("a")]);
      const body = { ...answered("a"), actor: { user: "ann", via: "http" } };

      const fact = await accept(session, "key_1", body);
      const again = await session.store.accept(session.uid, "key_1", answered("a"));

      assertEqual(bodyOf(fact), body, "the fact");
      assertEqual(again, { outcome: "duplicate", fact }, "the repeat");
    },
  ),
  claimedCase("of two answers at once one counts", async (session) => {
    await append(session, [{ type: "run_started", runId: run }, asked("a")]);

    const answers = await Promise.all([
      session.store.accept(session.uid, "key_1", answered("a", "allow")),
      session.store.accept(session.uid, "key_2", answered("a", "deny")),
    ]);

    const outcomes = answers.map(({ outcome }) => outcome).toSorted();
    assertEqual(outcomes, ["accepted", "refused"], "the answers");
  }),
  claimedCase("a question that was never asked can't be answered", async (session) => {
    await append(session, [{ type: "run_started", runId: run }, asked("a")]);

    const answer = await session.store.accept(session.uid, "key_1", answered("b"));

    assertEqual(answer, { outcome: "refused", reason: "unknown" }, "the answer");
  }),
];
