// Before: streamText({ model: anthropic("claude-sonnet-5"), instructions, messages, tools, maxOutputTokens: 4_000,
//   stopWhen: stepCountIs(20), maxRetries: 2, providerOptions: { anthropic: { effort: "medium" } } })
import { defineAgent, defineTool } from "@millrace/agent";
import { anthropic } from "@millrace/providers/anthropic";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Current weather in a city",
  input: z.object({ city: z.string() }),
  run: async ({ city }) => `4 °C in ${city}`,
});

export const agent = defineAgent({
  model: anthropic("claude-sonnet-5", { settings: { maxTokens: 4_000, effort: "medium" } }),
  instructions: "You help people pack.",
  tools: [weather],
  limits: { turns: 20 },
  retry: { attempts: 3, baseMs: 500, capMs: 30_000 },
});
