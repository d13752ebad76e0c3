// The agent, the same with and without Temporal.
import { defineAgent, defineTool } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather of a city",
  input: z.object({ city: z.string() }),
  effect: "pure",
  run: ({ city }) => `rain in ${city}`,
});

/** A real agent names a model of a vendor here. This one calls its tool, and then writes for two seconds. */
const answer = "Pack a raincoat, and boots for the hills. ".repeat(20);
const model = {
  id: "demo",
  stream: (request: Parameters<ReturnType<typeof scriptedModel>["stream"]>[0]) => {
    const isAnswered = request.transcript.at(-1)?.author === "tool";
    const reply = isAnswered ? [say(answer)] : [call("weather", { city: "Oslo" })];
    return scriptedModel([reply], { delayMs: 10, chunk: [4] }).stream(request);
  },
};

export const agent = defineAgent({ model, tools: [weather] });
