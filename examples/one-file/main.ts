import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { anthropic } from "@millrace/providers/anthropic";
import { z } from "zod";

// Without a key it plays a script; with ANTHROPIC_API_KEY it asks a real model.
const script = scriptedModel([[call("weather", { city: "Oslo" })], [say("Take a warm coat.\n")]]);
const model = process.env["ANTHROPIC_API_KEY"] ? anthropic("claude-sonnet-5") : script;

const weather = defineTool({
  name: "weather",
  description: "Current weather in a city",
  input: z.object({ city: z.string() }),
  effect: "pure",
  run: ({ city }) => ({ city, celsius: 4, sky: "light snow" }),
});
const agent = defineAgent({ model, instructions: "You help people pack.", tools: [weather] });

const run = agent.run("What do I wear in Oslo today?");
for await (const event of run.narrate()) {
  if (event.type === "assistant_text_delta") process.stdout.write(event.text);
  if (event.type === "tool_execution_started") console.log(`[${event.tool} ${event.input.city}]`);
}
const result = await run.result; // never rejects: a failure is an ending
if (result.outcome !== "completed") console.error(result);
