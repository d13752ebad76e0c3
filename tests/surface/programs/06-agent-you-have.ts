// An agent of another framework becomes resumable, shared and recorded.
import { defineAgent } from "@millrace/agent";
import { fromAiSdk, toAiSdk } from "@millrace/bridges/ai-sdk";
import { streamText, tool } from "ai";
import type { LanguageModel } from "ai";
import { z } from "zod";

declare const model: LanguageModel;
const tools = {
  weather: tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => city,
  }),
};

export const support = defineAgent({
  respond: (run) =>
    fromAiSdk(
      streamText({ model, messages: toAiSdk(run.transcript), tools, abortSignal: run.signal }),
    ),
});
