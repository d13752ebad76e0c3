import type { Json } from "@millrace/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decoded } from "./testing/decode.ts";
import { difference, same } from "./testing/encode/compare.ts";
import { dialects } from "./testing/encode/dialects.ts";
import { Random } from "../../../tests/kit/random.ts";
import { rounds } from "./testing/encode/rounds.ts";
import { isPlain, logicalReplies, replyOf } from "./testing/replies.ts";
import type { LogicalReply } from "./testing/replies.ts";
import { runs } from "../../../tests/kit/runs.ts";

const forever = { timeout: 24 * 3_600_000 };

/** What every dialect can express of a reply, in one form. */
function commonView({ draft, end }: Decoded): Json {
  const parts = draft.parts.map((part): Json => {
    if (part.state === "open") return "open";
    if (part.part.kind === "tool_call") return [part.part.tool, part.part.input ?? null];
    return "text" in part.part ? [part.part.kind, part.part.text] : part.part.kind;
  });
  const { inputTokens = 0, outputTokens = 0, cachedTokens = 0 } = end.usage ?? {};
  return [parts, end.stop, [inputTokens, outputTokens, cachedTokens]];
}

let decodings = 0;

/** The failures when each dialect writes the reply and our protocol reads it. */
function* failuresOf(reply: LogicalReply, seed: number): Generator<string> {
  const comparable = isPlain(reply) && (reply.stop === "end" || reply.stop === "tools");
  let first: Json | undefined;
  for (const [at, { name, encode, read }] of dialects.entries()) {
    // Each takes a sixth of the time. In a change Bedrock's two read every third reply.
    if (name.startsWith("bedrock") && seed % 3 !== 0 && runs(0, 1) === 0) continue;
    const { bytes, preserved } = encode(reply, new Random(seed * dialects.length + at));
    const decoded = read([bytes]);
    decodings += 1;
    const different = difference(reply, preserved, decoded);
    if (different !== undefined) yield `seed ${seed}, ${name}: ${different}`;
    if (!comparable || !preserved.order) continue;
    const view = commonView(decoded);
    first ??= view;
    if (!same(first, view)) yield `seed ${seed}: ${name} is not as another dialect`;
  }
}

describe("one reply in all dialects", () => {
  test("is read as the same parts, stop and usage from each of them", forever, async () => {
    const count = runs(30_000, 10_000_000, 150);

    const failures = await rounds(count, (seed) => failuresOf(replyOf(seed), seed));

    expect(failures).toEqual([]);
    console.log(
      `count: one reply in all dialects is one reply, ${decodings} decodings, 0 failures`,
    );
  });

  test("is read as the same, also when drawn to be made small", forever, () => {
    const numRuns = runs(2_000, 200_000, 200);

    fc.assert(
      fc.property(logicalReplies, fc.nat(), (reply, seed) => {
        expect([...failuresOf(reply, seed)]).toEqual([]);
      }),
      { numRuns },
    );
    console.log(`count: shrinkable replies are read as written, ${numRuns} replies, 0 failures`);
  });
});
