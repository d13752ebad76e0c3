import type { Json } from "@millrace/core";
import type { ModelSettings } from "@millrace/core/ports";
import type { SettingsTable } from "../../settings.ts";
import { openaiRows } from "../openai-settings.ts";

/** How OpenAI's Responses API takes settings. */
export const openaiResponsesSettings: SettingsTable = {
  vendor: "OpenAI's Responses API",
  rows: {
    maxTokens: {
      kind: "sent",
      as: ["max_output_tokens"],
      limits: "from 16",
      fields: (tokens) => (tokens < 16 ? "use 16 or more" : { max_output_tokens: tokens }),
    },
    ...openaiRows("reasoning.effort", ["30m", "12h"]),
    stop: {
      kind: "refused",
      instead: "this API has no stop texts: ask by openaiChat, or leave the setting out",
    },
    seed: {
      kind: "refused",
      instead: "this API has no seed: ask by openaiChat, or leave the setting out",
    },
    toolChoice: {
      kind: "sent",
      as: ["tool_choice"],
      fields: (choice) => ({ tool_choice: choiceOf(choice) }),
    },
  },
};

function choiceOf(choice: NonNullable<ModelSettings["toolChoice"]>): Json {
  return typeof choice === "string" ? choice : { type: "function", name: choice.tool };
}
