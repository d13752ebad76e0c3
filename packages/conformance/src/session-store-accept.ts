import { callId, inputId, partId } from "@millrace/core/writing";
import type { AcceptOutcome, PeopleFact } from "@millrace/core/ports";
import { assertEqual, assertOutcome, assertRejects } from "./case.ts";
import type { Case } from "./case.ts";
import { bodyOf, prompt, takenBack } from "./session-store-bodies.ts";
import {
  accept,
  assertDense,
  assertUnchanged,
  claim,
  newName,
  storeCase,
} from "./session-store-fixture.ts";
import type { SessionStoreFixture } from "./session-store-fixture.ts";

/** An input is accepted once for each key, at any head, under any driver. */
export const acceptCases: readonly Case<SessionStoreFixture>[] = [
  storeCase("an input is a fact, with or without a driver", async (session) => {
    const first = await accept(session, "key_1", prompt("input_1"));
    await claim(session, 0);
    const second = await accept(session, "key_2", prompt("input_2"));

    assertEqual([first.n, second.n], [1, 3], "the numbers");
    assertEqual(bodyOf(first), prompt("input_1"), "the first one");
    assertEqual(first.sessionId, session.sessionId, "the session");
    const facts = await assertDense(session);
    assertEqual([facts[0], facts[2]], [first, second], "what is read");
  }),
  storeCase("the same key and content again is the same fact", async (session) => {
    const first = await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", prompt("input_2"));
    const before = await session.store.read(session.uid);

    const answer = await session.store.accept(session.uid, "key_1", prompt("input_1"));

    assertEqual(assertOutcome(answer, "duplicate", "the second").fact, first, "its fact");
    await assertUnchanged(session, before, "the duplicate");
  }),
  storeCase("an input is found by its id, whatever became of it", async (session) => {
    const { store, uid } = session;
    const hasInput = (id: string): Promise<boolean> => store.hasInput(uid, inputId(id));
    assertEqual(await hasInput("input_1"), false, "before it is accepted");
    await accept(session, "key_1", prompt("input_1"));
    await accept(session, "key_2", prompt("input_2"));
    await accept(session, "key_3", takenBack("input_2"));

    assertEqual(await hasInput("input_1"), true, "one that waits");
    assertEqual(await hasInput("input_2"), true, "one that was taken back");
    assertEqual(await hasInput("key_1"), false, "a key is no id");
    const fork = await store.fork(uid, { sessionId: newName(), n: 1 });
    assertEqual(await store.hasInput(fork.uid, inputId("input_1")), true, "in a fork");
    assertEqual(await store.hasInput(fork.uid, inputId("input_2")), false, "after the fork");
    await claim(session, 0, 0);
    assertEqual(await hasInput("input_1"), true, "one that a reset undid");
    await store.remove(uid);
    await assertRejects(() => hasInput("input_1"), "unknown_session", "of the removed");
  }),
  storeCase("the order of keys in an object makes no other content", async (session) => {
    const first: PeopleFact = {
      type: "input_accepted",
      inputId: inputId("input_1"),
      input: { kind: "answer", callId: callId("call_1"), output: { a: 1, b: [{ c: 2, d: 3 }] } },
    };
    const second: PeopleFact = {
      input: { output: { b: [{ d: 3, c: 2 }], a: 1 }, callId: callId("call_1"), kind: "answer" },
      inputId: inputId("input_1"),
      type: "input_accepted",
    };
    await accept(session, "key_1", first);

    const answer = await session.store.accept(session.uid, "key_1", second);

    assertOutcome(answer, "duplicate", "the second");
  }),
  storeCase("the same key with other content is refused", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    const before = await session.store.read(session.uid);
    const others: readonly PeopleFact[] = [
      prompt("input_1", "other text"),
      prompt("input_2"),
      takenBack("input_1"),
      { type: "input_accepted", inputId: inputId("input_1"), input: { kind: "abort" } },
    ];

    for (const other of others) {
      const answer = await session.store.accept(session.uid, "key_1", other);
      assertEqual(answer, { outcome: "refused", reason: "key_reused" }, JSON.stringify(other));
    }

    await assertUnchanged(session, before, "the refusals");
  }),
  storeCase("content is compared by its bytes too", async (session) => {
    const picture = (last: number): PeopleFact => {
      const bytes = Uint8Array.of(1, 2, 3, last);
      const part = { kind: "media", id: partId("p"), mediaType: "image/png", bytes } as const;
      return {
        type: "input_accepted",
        inputId: inputId("input_1"),
        input: { kind: "prompt", parts: [part] },
      };
    };
    await accept(session, "key_1", picture(4));

    const same = await session.store.accept(session.uid, "key_1", picture(4));
    const other = await session.store.accept(session.uid, "key_1", picture(5));

    assertOutcome(same, "duplicate", "the same bytes");
    assertOutcome(other, "refused", "other bytes");
  }),
  storeCase("the actor of a fact comes back with it", async (session) => {
    const actor = { user: "ann \u0000 é 👩‍👧", via: "http" };
    const input = await accept(session, "key_1", { ...prompt("input_1"), actor });
    const taken = await accept(session, "key_2", { ...takenBack("input_1"), actor });

    assertEqual(bodyOf(input), { ...prompt("input_1"), actor }, "the input");
    assertEqual(bodyOf(taken), { ...takenBack("input_1"), actor }, "the take-back");
    assertEqual(await session.store.read(session.uid), [input, taken], "what is read");
  }),
  storeCase("a repeat by another actor, or by none, is the same fact", async (session) => {
    const actor = { user: "ann", via: "http" };
    const first = await accept(session, "key_1", { ...prompt("input_1"), actor });
    const before = await session.store.read(session.uid);

    for (const other of [{ actor: { user: "ben" } }, {}, { actor }]) {
      const answer = await session.store.accept(session.uid, "key_1", {
        ...prompt("input_1"),
        ...other,
      });
      assertEqual(assertOutcome(answer, "duplicate", "the repeat").fact, first, "its fact");
    }

    const text = await session.store.accept(session.uid, "key_1", {
      ...prompt("input_1", "other text"),
      actor,
    });
    assertEqual(text, { outcome: "refused", reason: "key_reused" }, "other text by the same actor");
    await assertUnchanged(session, before, "the repeats");
  }),
  storeCase("many concurrent inputs, each sent twice, are stored once each", async (session) => {
    const names = Array.from({ length: 20 }, (_, at) => `input_${at}`);
    const say = (name: string): Promise<AcceptOutcome> =>
      session.store.accept(session.uid, name, prompt(name));

    const answers = await Promise.all([...names, ...names].map(say));

    const numbers = answers.map((answer) => {
      if (answer.outcome === "refused") return 0;
      return answer.outcome === "duplicate" ? answer.fact.n : (answer.facts[0]?.n ?? 0);
    });
    assertEqual(numbers.slice(0, 20), numbers.slice(20), "the numbers that the repeats are given");
    assertEqual(new Set(numbers).size, 20, "how many numbers there are");
    assertEqual((await assertDense(session)).length, 20, "how many facts there are");
  }),
  storeCase("the same text under another key is a second input", async (session) => {
    await accept(session, "key_1", prompt("input_1", "hello"));
    await accept(session, "key_2", prompt("input_2", "hello"));

    assertEqual((await assertDense(session)).length, 2, "how many facts there are");
  }),
  storeCase("an id names one input, under whatever key", async (session) => {
    await accept(session, "key_1", prompt("input_1"));
    const before = await session.store.read(session.uid);

    const answer = await session.store.accept(
      session.uid,
      "key_2",
      prompt("input_1", "other text"),
    );

    assertEqual(answer, { outcome: "refused", reason: "key_reused" }, "the answer");
    await assertUnchanged(session, before, "the second input of that id");
  }),
  storeCase("keys are a session's own", async (session) => {
    const other = await session.store.create({ sessionId: newName() });
    await accept(session, "key_1", prompt("input_1"));

    await accept({ store: session.store, ...other }, "key_1", prompt("input_2"));
  }),
  storeCase("a key may be any text", async (session) => {
    for (const key of ["", " ", "a:b", "'", "👩‍👧", "\u0000", "k".repeat(1_000)]) {
      await accept(session, key, prompt(`input_${key.length}_${key.codePointAt(0)}`));
      const again = prompt(`input_${key.length}_${key.codePointAt(0)}`);
      assertOutcome(await session.store.accept(session.uid, key, again), "duplicate", `key ${key}`);
    }
  }),
  storeCase("of one key sent many times at once exactly one is accepted", async (session) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => session.store.accept(session.uid, "key", prompt("input_1"))),
    );

    const outcomes = answers.map((answer) => answer.outcome);
    assertEqual(outcomes.filter((outcome) => outcome === "accepted").length, 1, "accepted");
    assertEqual(outcomes.filter((outcome) => outcome === "duplicate").length, 19, "duplicates");
    assertEqual((await assertDense(session)).length, 1, "how many facts there are");
  }),
  storeCase("a key is remembered across claims", async (session) => {
    const first = await accept(session, "key_1", prompt("input_1"));
    await claim(session, 0);
    await claim(session, 1);

    const answer = await session.store.accept(session.uid, "key_1", prompt("input_1"));

    assertEqual(assertOutcome(answer, "duplicate", "the second").fact, first, "its fact");
  }),
  storeCase("each stop is a fact of its own", async (session) => {
    const stop = (id: string): PeopleFact => ({
      type: "input_accepted",
      inputId: inputId(id),
      input: { kind: "abort", reason: "enough" },
    });
    await accept(session, "key_1", stop("input_1"));
    await accept(session, "key_2", stop("input_2"));

    assertEqual((await assertDense(session)).length, 2, "how many facts there are");
  }),
];
