// An agent with a tool of its own, one that a viewer answers, those of an MCP server, and another
// agent. The models play a script, so that it runs without a key.
import { defineAgent, defineTool } from "@millrace/agent";
import { openMcp } from "@millrace/agent/mcp";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Current weather in a city",
  input: z.object({ city: z.string() }),
  effect: "pure",
  run: ({ city }) => ({ city, celsius: 4 }),
});
const agent = defineAgent({
  model: scriptedModel([[call("weather", { city: "Oslo" })], [say("A coat, and boots.")]]),
  tools: [weather],
});
const model = scriptedModel([
  [call("locate", {})],
  [
    call("weather", { city: "Oslo" }),
    call("every_get-sum", { a: 4, b: 2 }),
    call("packer", { prompt: "Pack for Oslo" }),
  ],
  [say("Take a coat, and boots.")],
]);
const url = process.env["MCP_URL"] ?? "http://localhost:3001/mcp";

// #region tools
const locate = defineTool({
  name: "locate",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  run: "client",
});
// Its tools are named every_…; each asks before it runs, except for those that are named here.
await using every = await openMcp({ name: "every", url, trust: ["get-sum"] });
const lead = defineAgent({
  model,
  tools: [
    weather,
    locate,
    ...every.tools,
    agent.asTool({ name: "packer", description: "Packs a suitcase" }),
  ],
});
// #endregion

// #region answer
await using session = await lead.open();
const run = session.send("What do I take along?");
for await (const event of run) {
  if (event.type === "tool_execution_started" && event.tool === "locate") {
    session.answer(event.callId, { city: "Oslo" });
  }
  if (event.type === "tool_execution_finished") console.log(event.tool, event.status, event.output);
}
// #endregion
console.log(await run.text());
