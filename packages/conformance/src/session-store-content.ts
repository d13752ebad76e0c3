import { callId, inputId, itemId, partId } from "@millrace/core/writing";
import type { Item, Part } from "@millrace/core";
import type { Input } from "@millrace/core/writing";
import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import { bodyOf, committed, epochOf } from "./session-store-bodies.ts";
import { accept, append, claimedCase, open, storeCase } from "./session-store-fixture.ts";
import type { StoreSession, SessionStoreFixture } from "./session-store-fixture.ts";
import { everyFact, metadata, oddTexts, parts, values } from "./session-store-samples.ts";

const id = partId("part_1");

/** Facts are returned unchanged. */
export const contentCases: readonly Case<SessionStoreFixture>[] = [
  ...parts.map((part, at) =>
    claimedCase(`a part of the kind ${part.kind} comes back as it was (${at})`, (session) =>
      assertItemSurvives(session, itemWith([part])),
    ),
  ),
  claimedCase("an item comes back with its ending, usage, model and metadata", async (session) => {
    const usage = {
      inputTokens: 10,
      outputTokens: 20,
      cachedTokens: 3,
      cacheWriteTokens: 0,
      reasoningTokens: 7,
      cost: 0.1 + 0.2,
    };
    const model = "protocol/model-1";
    await assertItemSurvives(session, { ...itemWith(parts), usage, model, metadata });
    await assertItemSurvives(session, {
      ...nextHead(),
      parts: [],
      stop: "length",
      evidence: values,
    });
    const cause = { code: "cut", message: "it was", retryable: false, evidence: { a: values } };
    await assertItemSurvives(session, { ...nextHead(), parts: [], stop: "truncated", cause });
  }),
  claimedCase("odd text comes back as it was", (session) =>
    assertItemSurvives(
      session,
      itemWith(oddTexts.map((text, at) => ({ kind: "text", id: partId(`part_${at}`), text }))),
    ),
  ),
  claimedCase("JSON values come back as they were", (session) =>
    assertItemSurvives(
      session,
      itemWith(
        values.map((value, at) => ({ kind: "structured", id: partId(`part_${at}`), value })),
      ),
    ),
  ),
  claimedCase("a text of 1 MB comes back as it was", (session) =>
    assertItemSurvives(
      session,
      itemWith([{ kind: "text", id, text: "0123456789abcdé".repeat(65_536) }]),
    ),
  ),
  claimedCase("1 MB of bytes comes back as it was", async (session) => {
    const many = Uint8Array.from({ length: 1_048_576 }, (_, at) => (at * 31) % 256);
    await assertItemSurvives(
      session,
      itemWith([{ kind: "media", id, mediaType: "a/b", bytes: many }]),
    );
  }),
  claimedCase("every sort of fact comes back as it was", async (session) => {
    await append(session, everyFact);

    const read = (await session.store.read(session.uid, { after: 1 })).map(bodyOf);

    assertEqual(read, everyFact, "what is read");
  }),
  storeCase("every sort of input comes back as it was", async (session) => {
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
      const fact = await accept(session, `key_${at}`, structuredClone(body));
      assertEqual(bodyOf(fact), body, "what was answered");
      assertEqual(await session.store.read(session.uid, { after: at }), [fact], "what is read");
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

async function assertItemSurvives(session: StoreSession, item: Item): Promise<void> {
  const generation = (await session.store.head(session.uid)) + 1;
  const request = committed(0, epochOf(generation), item);
  await open(session, 0, epochOf(generation), item.id);

  const answer = await session.store.commit(session.uid, structuredClone(request));

  const { facts } = assertOutcome(answer, "committed", "the commit");
  assertEqual(facts.map(bodyOf), [request.fact], "what was answered");
  assertEqual(
    await session.store.read(session.uid, { after: generation - 1 }),
    facts,
    "what is read",
  );
  const again = await session.store.commit(session.uid, request);
  assertEqual(again, { outcome: "exists", item }, "what a second commit is answered");
}
