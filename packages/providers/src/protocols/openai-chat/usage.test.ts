import { expect, test } from "vitest";
import { usageOf } from "./usage.ts";

test("a part that is larger than its total is counted beside it", () => {
  const reasoning = { completion_tokens_details: { reasoning_tokens: 90 } };
  expect(usageOf({ prompt_tokens: 5, completion_tokens: 10, ...reasoning })).toEqual({
    inputTokens: 5,
    outputTokens: 100,
    cachedTokens: 0,
    reasoningTokens: 90,
  });
  const cached = { prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 15 } };
  expect(usageOf({ prompt_tokens: 5, completion_tokens: 10, ...cached })).toEqual({
    inputTokens: 100,
    outputTokens: 10,
    cachedTokens: 80,
    cacheWriteTokens: 15,
  });
});

test("a surplus of the total that is not the reasoning's is left alone", () => {
  const counts = {
    prompt_tokens: 5,
    completion_tokens: 10,
    total_tokens: 40,
    completion_tokens_details: { reasoning_tokens: 3 },
  };

  expect(usageOf(counts)?.outputTokens).toBe(10);
});

test("details that are no counts are left out, and so is a cost that is no price", () => {
  const details = { cached_tokens: -4, cache_write_tokens: "7" };
  for (const cost of [-1, "1", Number.NaN, { total_cost: null }]) {
    const counts = { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: details, cost };
    expect(usageOf(counts)).toEqual({ inputTokens: 5, outputTokens: 1, cachedTokens: 0 });
  }
});

test("what has no counts is no usage", () => {
  for (const none of [undefined, null, "x", [], {}, { prompt_tokens: 1 }]) {
    expect(usageOf(none)).toBeUndefined();
  }
});
