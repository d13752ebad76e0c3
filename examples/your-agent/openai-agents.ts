// An agent made with the OpenAI Agents SDK, as it is. Its memory is the session's transcript.
import { defineAgent, narrateTo } from "@millrace/agent";
import { fromOpenaiAgents } from "@millrace/bridges/openai-agents";
import { fileStore } from "@millrace/stores/file";
import { Agent, run as runAgent, setOpenAIAPI, tool } from "@openai/agents";
import { z } from "zod";

setOpenAIAPI("chat_completions");
const weather = tool({
  name: "weather",
  description: "Current weather in a city",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, celsius: 4 }),
});
const packer = new Agent({ name: "Packer", model: "gpt-5.2", tools: [weather] });

const support = defineAgent({
  async *respond(run) {
    const said = run.transcript.flatMap(({ author, parts }) =>
      parts.flatMap((part) => (part.kind === "text" ? [`${author}: ${part.text}`] : [])),
    );
    yield* fromOpenaiAgents(
      await runAgent(packer, said.join("\n"), { stream: true, signal: run.signal }),
    );
  },
  observers: [narrateTo(process.stdout)],
});

await using session = await support.open({ id: "openai-agents", store: fileStore("./sessions") });
const result = await session.send(process.argv[2] ?? "What do I wear in Oslo?").result;
if (result.outcome === "failed") console.error(result.error.message);
