import { openai, openaiChat } from "@millrace/providers/openai";

// #region least
export const gpt = openai("gpt-5.4"); // Responses; the key is OPENAI_API_KEY
export const chat = openaiChat("gpt-4.1"); // chat completions
// #endregion

// #region responses
export const careful = openai("gpt-5.4", {
  settings: {
    maxTokens: 16_000,
    toolChoice: { tool: "search" },
    parallelTools: false,
    effort: "high",
    cache: { key: "user-123", ttl: "24h" }, // prompts are kept in any case; this keeps them together, and longer
    serviceTier: "flex",
    metadata: { feature: "search" },
    // the vendor's own fields
    text: { verbosity: "low" },
    reasoning: { summary: "auto" },
    tools: [{ type: "web_search" }],
    max_tool_calls: 10,
    safety_identifier: "hash-of-user",
  },
});
// #endregion

// #region chat
export const classic = openaiChat("gpt-4.1", {
  settings: {
    maxTokens: 4_000,
    temperature: 0.3,
    topP: 0.9,
    stop: ["END"], // up to four
    seed: 7,
    toolChoice: "none",
    parallelTools: false,
    cache: { key: "user-123" },
    serviceTier: "default",
    metadata: { feature: "search" },
    // the vendor's own fields
    frequency_penalty: 0.2,
    logprobs: true,
    top_logprobs: 3,
  },
});
// #endregion
