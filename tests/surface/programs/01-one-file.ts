// One file, one tool.
import { defineAgent, defineTool } from "@millrace/agent";
import { anthropic } from "@millrace/providers/anthropic";
import { z } from "zod";

export const weather = defineTool({
  name: "weather",
  description: "Current weather in a city",
  input: z.object({ city: z.string() }),
  effect: "pure",
  async run({ city }, { progress, signal }) {
    progress({ message: `asking about ${city}` });
    const response = await fetch(`https://weather.example/${encodeURIComponent(city)}`, { signal });
    return z.object({ celsius: z.number() }).parse(await response.json());
  },
});

export const agent = defineAgent({
  model: anthropic("claude-sonnet-5"),
  instructions: "You help people pack.",
  tools: [weather],
});

const run = agent.run("What should I wear in Oslo today?");
for await (const event of run.narrate()) {
  if (event.type === "assistant_text_delta") process.stdout.write(event.text);
  if (event.type === "tool_execution_started") {
    console.log(`\n[${event.tool}: ${event.input.city}]`);
  }
}
const result = await run.result; // never rejects
if (result.outcome === "failed") console.error(result.error.code, result.error.message);
