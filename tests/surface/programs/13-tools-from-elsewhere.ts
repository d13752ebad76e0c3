// Tools from elsewhere.
import { defineAgent, defineTool } from "@millrace/agent";
import { openMcp } from "@millrace/agent/mcp";
import type { Model } from "@millrace/core";
import { z } from "zod";
import { agent, weather } from "./01-one-file.ts";

declare const model: Model;

const locate = defineTool({
  name: "locate",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  run: "client",
});
await using github = await openMcp({ name: "github", url: "https://mcp.example/github" }); // its tools are named github_…
const lead = defineAgent({
  model,
  tools: [
    weather,
    locate,
    ...github.tools,
    agent.asTool({ name: "packer", description: "Packs a suitcase" }),
  ],
});
for await (const event of lead.run("Where am I?")) {
  if (event.type === "tool_execution_finished" && event.tool === "locate")
    console.log(event.output);
}
