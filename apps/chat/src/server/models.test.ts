import { expect, it } from "vitest";
import { chooseAgent, modelsOf } from "./models.ts";

it("without a key there is the demo alone; each key adds a model, with its window if that is known", () => {
  expect(modelsOf({}).map(({ id }) => id)).toEqual(["demo"]);
  const env = {
    ANTHROPIC_API_KEY: "a",
    OPENAI_API_KEY: "b",
    GEMINI_API_KEY: "",
    OPENAI_MODEL: "mine",
  };
  const models = modelsOf(env);
  expect(models.map(({ id, window }) => [id, window])).toEqual([
    ["anthropic/claude-sonnet-5", 1_000_000],
    ["openai/mine", undefined],
    ["demo", 200_000],
  ]);
});

it("the usual model of each vendor is in the table of windows and prices", () => {
  const env = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b", GEMINI_API_KEY: "c" };
  for (const { id, window } of modelsOf(env)) expect([id, typeof window]).toEqual([id, "number"]);
});

it("a session's agent is that of the model its metadata names, else the first", () => {
  const models = modelsOf({ ANTHROPIC_API_KEY: "a" });
  const choose = chooseAgent(models);
  expect(choose({ metadata: { model: "demo" } })).toBe(models[1]?.agent);
  for (const metadata of [{}, { model: "gone" }, { model: 7 }])
    expect(choose({ metadata })).toBe(models[0]?.agent);
});
