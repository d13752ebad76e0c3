// The agent of main.ts, for programs of more than one file.
import { defineAgent, defineTool } from "@millrace/agent";
import { anthropic } from "@millrace/providers/anthropic";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Current weather in a city",
  input: z.object({ city: z.string() }),
  effect: "pure",
  async run({ city }, { signal }) {
    const response = await fetch(`https://weather.example/${encodeURIComponent(city)}`, { signal });
    return z.object({ celsius: z.number() }).parse(await response.json());
  },
});

export const packer = defineAgent({
  model: anthropic("claude-sonnet-5"),
  instructions: "You help people pack.",
  tools: [weather],
});
