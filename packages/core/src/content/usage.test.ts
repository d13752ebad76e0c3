import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { addUsage, noUsage } from "./usage.ts";
import type { Usage } from "./usage.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(10_000, 1_000_000);

/** Whole numbers, so that sums are exact in any order, and parts that are within their totals. */
const wholeUsage: fc.Arbitrary<Usage> = fc
  .tuple(fc.nat(3), fc.nat(3), fc.nat(7), fc.nat(3))
  .map(([inputTokens, outputTokens, choice, cost]) => ({
    inputTokens,
    outputTokens,
    cachedTokens: Math.min(choice, inputTokens),
    ...(inputTokens > 0 && choice % 2 === 1 ? { cacheWriteTokens: inputTokens } : {}),
    ...(outputTokens > 0 && choice > 3 ? { reasoningTokens: outputTokens } : {}),
    ...(cost > 0 ? { cost } : {}),
  }));

const some: Usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 4 };

describe("addUsage", () => {
  it("counts add up", () => {
    const left = { ...some, cacheWriteTokens: 3, reasoningTokens: 2, cost: 0.5 };
    const right = { ...some, cacheWriteTokens: 1, reasoningTokens: 1, cost: 0.25 };

    expect(addUsage(left, right)).toStrictEqual({
      inputTokens: 20,
      outputTokens: 10,
      cachedTokens: 8,
      cacheWriteTokens: 4,
      reasoningTokens: 3,
      cost: 0.75,
    });
  });

  it("a count that only one side reports is kept, and one that none reports stays out", () => {
    expect(addUsage({ ...some, reasoningTokens: 2 }, some)).toStrictEqual({
      inputTokens: 20,
      outputTokens: 10,
      cachedTokens: 8,
      reasoningTokens: 2,
    });
    expect(addUsage(some, { ...some, cacheWriteTokens: 0 })).toHaveProperty("cacheWriteTokens", 0);
  });

  it("a cost is unknown as soon as one side that used something does not know its own", () => {
    expect(addUsage({ ...some, cost: 1 }, some)).not.toHaveProperty("cost");
    expect(addUsage(some, { ...some, cost: 1 })).not.toHaveProperty("cost");
  });

  it("nothing used changes nothing, not even what is known of the cost", () => {
    const priced = { ...some, cost: 1 };

    expect(addUsage(noUsage, priced)).toStrictEqual(priced);
    expect(addUsage(priced, noUsage)).toStrictEqual(priced);
    expect(addUsage(noUsage, some)).toStrictEqual(some);
  });

  it("a cost without tokens, as a fee for a search, is not lost", () => {
    const fee: Usage = { ...noUsage, cost: 0.01 };
    const priced = { ...some, cost: 1 };

    expect(addUsage(fee, priced).cost).toBeCloseTo(1.01);
    expect(addUsage(priced, fee).cost).toBeCloseTo(1.01);
  });

  it("neither order nor grouping matters", () => {
    fc.assert(
      fc.property(wholeUsage, wholeUsage, wholeUsage, (a, b, c) => {
        expect(addUsage(a, b)).toStrictEqual(addUsage(b, a));
        expect(addUsage(addUsage(a, b), c)).toStrictEqual(addUsage(a, addUsage(b, c)));
      }),
      { numRuns: times },
    );
    console.log(`count: usage is a sum, ${times} triples, 0 failures`);
  });
});
