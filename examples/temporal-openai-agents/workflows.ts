// A workflow as the documentation of Temporal's plug-in writes it: nothing here knows of the session.
import { Agent, tool } from "@openai/agents-core";
import { TemporalOpenAIRunner } from "@temporalio/openai-agents/workflow";

const weather = tool({
  name: "weather",
  description: "The weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  execute: async (input) => `rain in ${(input as { city: string }).city}`,
});

// #region workflow
export async function travel(question: string): Promise<string> {
  const packer = new Agent({
    name: "packer",
    instructions: "Say what to pack",
    model: "demo",
    tools: [weather],
  });
  const desk = new Agent({
    name: "desk",
    instructions: "Hand over",
    model: "demo",
    handoffs: [packer],
  });
  const runner = new TemporalOpenAIRunner({
    defaultModelParams: { startToCloseTimeout: "1 hour", heartbeatTimeout: "2 s" },
  });
  const { finalOutput } = await runner.run(desk, question);
  return String(finalOutput);
}
// #endregion
