import type { Model } from "@millrace/core";
import { scriptedModel } from "@millrace/core/testing";
import { expect, it } from "vitest";
import { askedModel } from "./asked-model.ts";

const model = scriptedModel([]);
const priced: Model = { ...model, price: { input: 3, output: 15 } };

it("the price of a model is its own, else that of the agent for a token", () => {
  const priceOf = (usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
  }): number => (usage.inputTokens * 2 + usage.outputTokens * 8) / 1_000_000;

  expect(askedModel(priced, priceOf).price).toEqual({ input: 3, output: 15 });
  expect(askedModel(model, priceOf).price).toEqual({ input: 2, output: 8 });
});

it.each([
  ["there is no function", undefined],
  ["the function returns nothing", () => undefined],
  ["the function returns no finite number", () => Number.NaN],
  [
    "the function throws",
    () => {
      throw new Error("no table");
    },
  ],
])("the price of a model is unknown if %s", (_, priceOf) => {
  expect(askedModel(model, priceOf)).toEqual({ id: model.id });
});
