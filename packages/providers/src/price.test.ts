import type { Usage } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { findModel, modelTable, modelTableDate, modelTableSources } from "./models.ts";
import type { Price } from "./price.ts";
import { withCost } from "./price.ts";
import { anthropic } from "./anthropic.ts";
import { startVendorServer } from "./serve/vendor-server.ts";

const million: Usage = { inputTokens: 1_000_000, outputTokens: 1_000_000, cachedTokens: 0 };

describe("the cost of a reply", () => {
  test.each<[string, Partial<Usage>, number]>([
    ["plain input and output", {}, 12],
    ["input from the cache", { cachedTokens: 400_000 }, 11.28],
    ["input written to the cache", { cacheWriteTokens: 100_000 }, 12.05],
    [
      "half of that for an hour",
      { cacheWriteTokens: 100_000, longCacheWriteTokens: 50_000 },
      12.125,
    ],
  ])("counts each token once: %s", (_, more, cost) => {
    const price = { input: 2, output: 10, cached: 0.2, cacheWrite: 2.5, longCacheWrite: 4 };

    expect(withCost({ ...million, ...more }, price).cost).toBeCloseTo(cost, 9);
  });

  test("is that of the input where the cache has no price of its own", () => {
    const usage = {
      ...million,
      cachedTokens: 1_000,
      cacheWriteTokens: 1_000,
      longCacheWriteTokens: 5,
    };

    expect(withCost(usage, { input: 2, output: 10 }).cost).toBeCloseTo(12, 9);
  });

  test("is that of the whole request where its input is long", () => {
    const above = { inputTokens: 200_000, input: 4, output: 20 };
    const price = { input: 2, output: 10, above };
    const short = { inputTokens: 200_000, outputTokens: 0, cachedTokens: 0 };

    expect(withCost(short, price).cost).toBeCloseTo(0.4, 9);
    expect(withCost({ ...short, inputTokens: 200_001 }, price).cost).toBeCloseTo(0.800004, 9);
  });

  test("is that of the tier that the vendor reports, and unknown for one without a price", () => {
    const above = { inputTokens: 10, input: 4, output: 20 };
    const tiers = { flex: { input: 1, output: 5 }, priority: { input: 4, output: 20, above } };
    const price = { input: 2, output: 10, tiers };
    const cost = (tier?: string): number | undefined => withCost(million, price, tier).cost;

    expect([cost(), cost("standard"), cost("FLEX"), cost("priority")]).toEqual([12, 12, 6, 24]);
    expect(cost("batch")).toBeUndefined();
    expect(withCost(million, { ...price, above }, "flex").cost).toBeUndefined();
  });

  test("stays what the vendor reports", () => {
    expect(withCost({ ...million, cost: 7 }, { input: 2, output: 10 }).cost).toBe(7);
  });
});

describe("a reply from a vendor", () => {
  const usage = {
    input_tokens: 100_000,
    cache_creation_input_tokens: 30_000,
    cache_creation: { ephemeral_5m_input_tokens: 10_000, ephemeral_1h_input_tokens: 20_000 },
    cache_read_input_tokens: 0,
    output_tokens: 1,
    service_tier: "priority",
  };
  const body = [
    { type: "message_start", message: { id: "m", role: "assistant", content: [], usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1_000 } },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
  const tiers = { priority: { input: 4, output: 20, cacheWrite: 5, longCacheWrite: 8 } };

  test("costs what its tier and its hour in the cache cost", async () => {
    await using server = await startVendorServer({ replies: () => ({ body }) });
    const price = { input: 2, output: 10, tiers };
    const model = anthropic("claude-sonnet-5", { baseUrl: server.url, apiKey: "k", price });

    const reply = await model.stream({ transcript: [] }).result;

    expect(reply.usage).toMatchObject({ cacheWriteTokens: 30_000, longCacheWriteTokens: 20_000 });
    expect(reply.usage?.cost).toBeCloseTo(0.4 + 0.05 + 0.16 + 0.02, 9);
  });
});

describe("the table of models", () => {
  test("has every model of a vendor once, with its source", () => {
    const names = modelTable.map(({ vendor, model }) => `${vendor} ${model}`);

    expect(new Set(names).size).toBe(names.length);
    expect(modelTableDate).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    const vendors = new Set(modelTable.map(({ vendor }) => vendor));
    expect(
      [...vendors].filter((vendor) => !modelTableSources[vendor]?.startsWith("https://")),
    ).toEqual([]);
  });

  test("has prices that can be charged: positive, and cheaper from the cache", () => {
    const wrong = modelTable.filter(({ price, window = 1, maxOutput = 1 }) => {
      const tiers = [price, price?.above, ...Object.values(price?.tiers ?? {})];
      return !(
        window > 0 &&
        maxOutput > 0 &&
        tiers.every((tier) => tier === undefined || isSound(tier))
      );
    });

    expect(wrong).toEqual([]);
  });

  test("knows a model by its name and by the name of its version", () => {
    const price = findModel("anthropic", "claude-sonnet-5")?.price;

    expect(price).toMatchObject({
      input: 2,
      output: 10,
      cached: 0.2,
      cacheWrite: 2.5,
      longCacheWrite: 4,
    });
    expect(findModel("anthropic", "claude-sonnet-4-5-20250929")?.window).toBe(200_000);
    expect(findModel("openai", "gpt-5.4-2026-03-05")?.price?.tiers?.["flex"]?.input).toBe(1.25);
    expect(findModel("vertex", "claude-opus-5@default")?.price?.input).toBe(5);
  });

  test.each([
    ["openai", "gpt-5.4-mega"],
    ["openai", "claude-sonnet-5"],
    ["anthropic", "claude-sonnet-"],
    ["ollama", "gpt-5.4"],
  ])("does not guess: %s has no %s", (vendor, model) => {
    expect(findModel(vendor, model)).toBeUndefined();
  });

  test("is replaced by one's own rows before it", () => {
    const own = { vendor: "openai", model: "gpt-5.4", price: { input: 1, output: 2 } };

    expect(findModel("openai", "gpt-5.4", [own, ...modelTable])).toBe(own);
  });
});

function isSound({
  input,
  output,
  cached = 0,
  cacheWrite = input,
  longCacheWrite = cacheWrite,
}: Price): boolean {
  return input > 0 && output > 0 && cached <= input && longCacheWrite >= cacheWrite;
}
