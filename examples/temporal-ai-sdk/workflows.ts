// A workflow as the documentation of Temporal's plug-in writes it: nothing here knows of the session.
import { TemporalProvider } from "@temporalio/ai-sdk/workflow";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const weather = tool({
  description: "The weather of a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
});

// #region workflow
const provider = new TemporalProvider({
  languageModel: { startToCloseTimeout: "1 hour", heartbeatTimeout: "2 s" },
});

export async function travel(question: string): Promise<string> {
  const { text } = await generateText({
    model: provider.languageModel("demo"),
    system: "Say what to pack",
    prompt: question,
    tools: { weather },
    stopWhen: stepCountIs(5),
  });
  return text;
}
// #endregion
