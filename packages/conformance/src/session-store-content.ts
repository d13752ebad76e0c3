import { callId, inputId, itemId, partId } from "@millrace/core/writing";
import type { Item, Part } from "@millrace/core";
import type { Input } from "@millrace/core/writing";
import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import { bodyOf, committed, epochOf } from "./session-store-bodies.ts";
import { accept, append, claimedCase, open, storeCase } from "./session-store-fixture.ts";
import type { Scene, SessionStoreFixture } from "./session-store-fixture.ts";
import { everyFact, metadata, oddTexts, parts, values } from "./session-store-samples.ts";

const id = partId("part_1");

/** Facts are returned unchanged. */
export const contentCases: readonly Case<SessionStoreFixture>[] = [
  ...parts.map((part, at) =>
    claimedCase(`a part of the kind ${part.kind} comes back as it was (${at})`, (scene) =>
      assertItemSurvives(scene, itemWith([part])),
    ),
  ),
  claimedCase("an item comes back with its ending, usage, model and metadata", async (scene) => {
    const usage = {
      inputTokens: 10,
      outputTokens: 20,
      cachedTokens: 3,
      cacheWriteTokens: 0,
      reasoningTokens: 7,
      cost: 0.1 + 0.2,
    };
    const model = "protocol/model-1";
    await assertItemSurvives(scene, { ...itemWith(parts), usage, model, metadata });
    await assertItemSurvives(scene, { ...nextHead(), parts: [], stop: "length", evidence: values });
    const cause = { code: "cut", message: "it was", retryable: false, evidence: { a: values } };
    await assertItemSurvives(scene, { ...nextHead(), parts: [], stop: "truncated", cause });
  }),
  claimedCase("odd text comes back as it was", (scene) =>
    assertItemSurvives(
      scene,
      itemWith(oddTexts.map((text, at) => ({ kind: "text", id: partId(`part_${at}`), text }))),
    ),
  ),
  claimedCase("JSON values come back as they were", (scene) =>
    assertItemSurvives(
      scene,
      itemWith(
        values.map((value, at) => ({ kind: "structured", id: partId(`part_${at}`), value })),
      ),
    ),
  ),
  claimedCase("a text of 1 MB comes back as it was", (scene) =>
    assertItemSurvives(
      scene,
      itemWith([{ kind: "text", id, text: "0123456789abcdé".repeat(65_536) }]),
    ),
  ),
  claimedCase("1 MB of bytes comes back as it was", async (scene) => {
    const many = Uint8Array.from({ length: 1_048_576 }, (_, at) => (at * 31) % 256);
    await assertItemSurvives(
      scene,
      itemWith([{ kind: "media", id, mediaType: "a/b", bytes: many }]),
    );
  }),
  claimedCase("every sort of fact comes back as it was", async (scene) => {
    await append(scene, everyFact);

    const read = (await scene.store.read(scene.uid, { after: 1 })).map(bodyOf);

    assertEqual(read, everyFact, "what is read");
  }),
  storeCase("every sort of input comes back as it was", async (scene) => {
    const inputs: readonly Input[] = [
      { kind: "prompt", parts },
      { kind: "steer", parts: parts.slice(0, 2) },
      { kind: "follow_up", parts: [] },
      { kind: "answer", callId: callId("call_1"), output: values },
      { kind: "answer", callId: callId("call_1"), error: "\u0000 no camera" },
      { kind: "abort" },
      { kind: "abort", reason: "\u0000 enough" },
    ];
    for (const [at, input] of inputs.entries()) {
      const body = { type: "input_accepted", inputId: inputId(`input_${at}`), input } as const;
      const fact = await accept(scene, `key_${at}`, structuredClone(body));
      assertEqual(bodyOf(fact), body, "what was answered");
      assertEqual(await scene.store.read(scene.uid, { after: at }), [fact], "what is read");
    }
  }),
];

let items = 0;

function nextHead(): Pick<Item, "id" | "author"> {
  items += 1;
  return { id: itemId(`item_${items}`), author: "model" };
}

function itemWith(held: readonly Part[]): Item {
  return { ...nextHead(), parts: held, stop: "end" };
}

async function assertItemSurvives(scene: Scene, item: Item): Promise<void> {
  const generation = (await scene.store.head(scene.uid)) + 1;
  const request = committed(0, epochOf(generation), item);
  await open(scene, 0, epochOf(generation), item.id);

  const answer = await scene.store.commit(scene.uid, structuredClone(request));

  const { facts } = assertOutcome(answer, "committed", "the commit");
  assertEqual(facts.map(bodyOf), [request.fact], "what was answered");
  assertEqual(await scene.store.read(scene.uid, { after: generation - 1 }), facts, "what is read");
  const again = await scene.store.commit(scene.uid, request);
  assertEqual(again, { outcome: "exists", item }, "what a second commit is answered");
}
