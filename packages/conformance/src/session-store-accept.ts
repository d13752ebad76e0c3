import { callId, inputId, partId } from "@millrace/core/writing";
import type { AcceptOutcome, PeopleFact } from "@millrace/core/ports";
import { assertEqual, assertOutcome } from "./case.ts";
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
  storeCase("an input is a fact, with or without a driver", async (scene) => {
    const first = await accept(scene, "key_1", prompt("input_1"));
    await claim(scene, 0);
    const second = await accept(scene, "key_2", prompt("input_2"));

    assertEqual([first.n, second.n], [1, 3], "the numbers");
    assertEqual(bodyOf(first), prompt("input_1"), "the first one");
    assertEqual(first.sessionId, scene.sessionId, "the session");
    const facts = await assertDense(scene);
    assertEqual([facts[0], facts[2]], [first, second], "what is read");
  }),
  storeCase("the same key and content again is the same fact", async (scene) => {
    const first = await accept(scene, "key_1", prompt("input_1"));
    await accept(scene, "key_2", prompt("input_2"));
    const before = await scene.store.read(scene.uid);

    const answer = await scene.store.accept(scene.uid, "key_1", prompt("input_1"));

    assertEqual(assertOutcome(answer, "duplicate", "the second").fact, first, "its fact");
    await assertUnchanged(scene, before, "the duplicate");
  }),
  storeCase("the order of keys in an object makes no other content", async (scene) => {
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
    await accept(scene, "key_1", first);

    const answer = await scene.store.accept(scene.uid, "key_1", second);

    assertOutcome(answer, "duplicate", "the second");
  }),
  storeCase("the same key with other content is refused", async (scene) => {
    await accept(scene, "key_1", prompt("input_1"));
    const before = await scene.store.read(scene.uid);
    const others: readonly PeopleFact[] = [
      prompt("input_1", "other text"),
      prompt("input_2"),
      takenBack("input_1"),
      { type: "input_accepted", inputId: inputId("input_1"), input: { kind: "abort" } },
    ];

    for (const other of others) {
      const answer = await scene.store.accept(scene.uid, "key_1", other);
      assertEqual(answer, { outcome: "refused", reason: "key_reused" }, JSON.stringify(other));
    }

    await assertUnchanged(scene, before, "the refusals");
  }),
  storeCase("content is compared by its bytes too", async (scene) => {
    const picture = (last: number): PeopleFact => {
      const bytes = Uint8Array.of(1, 2, 3, last);
      const part = { kind: "media", id: partId("p"), mediaType: "image/png", bytes } as const;
      return {
        type: "input_accepted",
        inputId: inputId("input_1"),
        input: { kind: "prompt", parts: [part] },
      };
    };
    await accept(scene, "key_1", picture(4));

    const same = await scene.store.accept(scene.uid, "key_1", picture(4));
    const other = await scene.store.accept(scene.uid, "key_1", picture(5));

    assertOutcome(same, "duplicate", "the same bytes");
    assertOutcome(other, "refused", "other bytes");
  }),
  storeCase("the actor of a fact comes back with it", async (scene) => {
    const actor = { user: "ann \u0000 é 👩‍👧", via: "http" };
    const input = await accept(scene, "key_1", { ...prompt("input_1"), actor });
    const taken = await accept(scene, "key_2", { ...takenBack("input_1"), actor });

    assertEqual(bodyOf(input), { ...prompt("input_1"), actor }, "the input");
    assertEqual(bodyOf(taken), { ...takenBack("input_1"), actor }, "the take-back");
    assertEqual(await scene.store.read(scene.uid), [input, taken], "what is read");
  }),
  storeCase("a repeat by another actor, or by none, is the same fact", async (scene) => {
    const actor = { user: "ann", via: "http" };
    const first = await accept(scene, "key_1", { ...prompt("input_1"), actor });
    const before = await scene.store.read(scene.uid);

    for (const other of [{ actor: { user: "ben" } }, {}, { actor }]) {
      const answer = await scene.store.accept(scene.uid, "key_1", {
        ...prompt("input_1"),
        ...other,
      });
      assertEqual(assertOutcome(answer, "duplicate", "the repeat").fact, first, "its fact");
    }

    const text = await scene.store.accept(scene.uid, "key_1", {
      ...prompt("input_1", "other text"),
      actor,
    });
    assertEqual(text, { outcome: "refused", reason: "key_reused" }, "other text by the same actor");
    await assertUnchanged(scene, before, "the repeats");
  }),
  storeCase("many concurrent inputs, each sent twice, are stored once each", async (scene) => {
    const names = Array.from({ length: 20 }, (_, at) => `input_${at}`);
    const say = (name: string): Promise<AcceptOutcome> =>
      scene.store.accept(scene.uid, name, prompt(name));

    const answers = await Promise.all([...names, ...names].map(say));

    const numbers = answers.map((answer) => {
      if (answer.outcome === "refused") return 0;
      return answer.outcome === "duplicate" ? answer.fact.n : (answer.facts[0]?.n ?? 0);
    });
    assertEqual(numbers.slice(0, 20), numbers.slice(20), "the numbers that the repeats are given");
    assertEqual(new Set(numbers).size, 20, "how many numbers there are");
    assertEqual((await assertDense(scene)).length, 20, "how many facts there are");
  }),
  storeCase("the same text under another key is a second input", async (scene) => {
    await accept(scene, "key_1", prompt("input_1", "hello"));
    await accept(scene, "key_2", prompt("input_2", "hello"));

    assertEqual((await assertDense(scene)).length, 2, "how many facts there are");
  }),
  storeCase("an id names one input, under whatever key", async (scene) => {
    await accept(scene, "key_1", prompt("input_1"));
    const before = await scene.store.read(scene.uid);

    const answer = await scene.store.accept(scene.uid, "key_2", prompt("input_1", "other text"));

    assertEqual(answer, { outcome: "refused", reason: "key_reused" }, "the answer");
    await assertUnchanged(scene, before, "the second input of that id");
  }),
  storeCase("keys are a session's own", async (scene) => {
    const other = await scene.store.create({ sessionId: newName() });
    await accept(scene, "key_1", prompt("input_1"));

    await accept({ store: scene.store, ...other }, "key_1", prompt("input_2"));
  }),
  storeCase("a key may be any text", async (scene) => {
    for (const key of ["", " ", "a:b", "'", "👩‍👧", "\u0000", "k".repeat(1_000)]) {
      await accept(scene, key, prompt(`input_${key.length}_${key.codePointAt(0)}`));
      const again = prompt(`input_${key.length}_${key.codePointAt(0)}`);
      assertOutcome(await scene.store.accept(scene.uid, key, again), "duplicate", `key ${key}`);
    }
  }),
  storeCase("of one key sent many times at once exactly one is accepted", async (scene) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => scene.store.accept(scene.uid, "key", prompt("input_1"))),
    );

    const outcomes = answers.map((answer) => answer.outcome);
    assertEqual(outcomes.filter((outcome) => outcome === "accepted").length, 1, "accepted");
    assertEqual(outcomes.filter((outcome) => outcome === "duplicate").length, 19, "duplicates");
    assertEqual((await assertDense(scene)).length, 1, "how many facts there are");
  }),
  storeCase("a key is remembered across claims", async (scene) => {
    const first = await accept(scene, "key_1", prompt("input_1"));
    await claim(scene, 0);
    await claim(scene, 1);

    const answer = await scene.store.accept(scene.uid, "key_1", prompt("input_1"));

    assertEqual(assertOutcome(answer, "duplicate", "the second").fact, first, "its fact");
  }),
  storeCase("each stop is a fact of its own", async (scene) => {
    const stop = (id: string): PeopleFact => ({
      type: "input_accepted",
      inputId: inputId(id),
      input: { kind: "abort", reason: "enough" },
    });
    await accept(scene, "key_1", stop("input_1"));
    await accept(scene, "key_2", stop("input_2"));

    assertEqual((await assertDense(scene)).length, 2, "how many facts there are");
  }),
];
