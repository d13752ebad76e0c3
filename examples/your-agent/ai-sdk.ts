// An agent made with the AI SDK, as it is, in a session that can be left and taken up again.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { defineAgent, narrateTo } from "@millrace/agent";
import { fromAiSdk, toAiSdk } from "@millrace/bridges/ai-sdk";
import { fileStore } from "@millrace/stores/file";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";

const baseURL = process.env["OPENAI_BASE_URL"] ?? "https://api.openai.com/v1";
const provider = createOpenAICompatible({ name: "mine", baseURL });
const model = provider("gpt-5.2");
const weather = tool({
  description: "Current weather in a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, celsius: 4 }),
});
const tools = { weather };
const stopWhen = isStepCount(5);

// #region agent
const support = defineAgent({
  respond: (run) =>
    fromAiSdk(
      streamText({
        model,
        messages: toAiSdk(run.transcript),
        tools,
        stopWhen,
        abortSignal: run.signal,
      }),
    ),
  observers: [narrateTo(process.stdout)],
});
// #endregion

await using session = await support.open({ id: "ai-sdk", store: fileStore("./sessions") });
const result = await session.send(process.argv[2] ?? "What do I wear in Oslo?").result;
if (result.outcome === "failed") console.error(result.error.message);
