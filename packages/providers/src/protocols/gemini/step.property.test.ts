import { emptyDraft, fold } from "@millrace/core";
import type { Delta, Draft, Json, JsonObject } from "@millrace/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { plainContext } from "../../testing/decode.ts";
import { runs } from "../../../../../tests/kit/runs.ts";
import { ReplyReader } from "../../reply.ts";
import { geminiProtocol } from "./protocol.ts";

/** A campaign takes minutes. */
const timeout = 60_000 * runs(1, 60);

const anything = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
/** Mostly a valid value, sometimes any value. */
const mostly = (good: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.oneof({ arbitrary: good, weight: 12 }, { arbitrary: anything, weight: 1 });
const some = (model: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> =>
  fc.record(model, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<JsonObject>;

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 4 }),
  fc.constantFrom("", "\ud83d", "\ude00"),
);
const path = fc.constantFrom(
  "$.a",
  "$.b",
  "$.a.b",
  "$.l[0]",
  "$.l[1]",
  "$.l[]",
  "$.l[0].x",
  "$",
  "a",
);
const partialArg = some({
  jsonPath: mostly(path),
  stringValue: mostly(text),
  numberValue: mostly(fc.integer()),
  willContinue: mostly(fc.boolean()),
});
const functionCall = some({
  name: mostly(fc.constantFrom("f", "g")),
  id: mostly(fc.constantFrom("a", "b")),
  args: mostly(some({ a: text })),
  partialArgs: mostly(fc.array(partialArg, { maxLength: 3 })),
  willContinue: mostly(fc.boolean()),
});
const part = fc.oneof(
  fc.constant({ functionCall: { name: "f", args: { a: 1 } } }),
  some({ text: mostly(text), thought: mostly(fc.boolean()), thoughtSignature: mostly(text) }),
  some({ functionCall: mostly(functionCall), thoughtSignature: mostly(text) }),
  some({
    inlineData: mostly(
      some({
        mimeType: mostly(fc.constantFrom("image/png", "audio/L16")),
        data: mostly(fc.constantFrom("AAAA", "AA==")),
      }),
    ),
  }),
  some({ fileData: mostly(some({ fileUri: mostly(text), mimeType: mostly(text) })) }),
  some({ executableCode: anything, codeExecutionResult: anything }),
);
const candidate = some({
  content: mostly(some({ parts: mostly(fc.array(mostly(part), { maxLength: 3 })) })),
  finishReason: mostly(fc.constantFrom("STOP", "MAX_TOKENS", "SAFETY", "OTHER", "CONTINUATION")),
  continuationToken: mostly(text),
  groundingMetadata: mostly(
    some({
      groundingChunks: mostly(fc.array(anything)),
      groundingSupports: mostly(fc.array(some({ groundingChunkIndices: anything }))),
    }),
  ),
  index: mostly(fc.constantFrom(0, 0, 0, 1)),
});
const event = some({
  candidates: mostly(fc.array(mostly(candidate), { maxLength: 2 })),
  usageMetadata: mostly(some({ promptTokenCount: mostly(fc.nat()), totalTokenCount: anything })),
});

test(
  "whatever an event holds, it is read or refused, and the deltas are legal",
  { timeout },
  () => {
    let count = 0;
    const ends = new Set<string>();
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        let draft: Draft = emptyDraft();
        const emit = (delta: Delta): void => void (draft = fold(draft, delta));
        const reader = new ReplyReader(geminiProtocol, plainContext, { emit, draft: () => draft });
        for (const data of events) if (reader.take({ name: "", data }) === "over") break;

        const { stop } = reader.end({ kind: "eof" });

        expect(draft.fault).toBeUndefined();
        const open = draft.parts.filter(({ state }) => state === "open");
        if (!["truncated", "failed"].includes(stop)) expect(open).toEqual([]);
        ends.add(stop);
        count += events.length;
      }),
      { numRuns: runs(1_500, 300_000) },
    );
    for (const stop of ["end", "tools", "length", "failed", "truncated"])
      expect(ends).toContain(stop);
    console.log(`count: events of any shape are read or refused, ${count} events, 0 failures`);
  },
);
