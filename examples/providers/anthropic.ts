import { anthropic } from "@millrace/providers/anthropic";

// #region least
export const claude = anthropic("claude-sonnet-5"); // the key is ANTHROPIC_API_KEY
// #endregion

// #region shared
export const careful = anthropic("claude-opus-4-5", {
  settings: {
    maxTokens: 16_000,
    temperature: 0.3, // models before 4.7; later ones refuse it
    stop: ["\n\nHuman:"], // a text or several
    toolChoice: "auto", // or "none", "required", { tool: "search" }
    parallelTools: false,
    effort: "medium", // "low" to "max", as the model has it
    cache: { instructions: true, tools: true, items: true, ttl: "1h" }, // true: all three, for 5 minutes
    serviceTier: "auto",
    metadata: { user_id: "u-123" }, // the only label that the vendor keeps
  },
});

export const thinker = anthropic("claude-sonnet-4-5", {
  settings: { maxTokens: 32_000, thinking: { budgetTokens: 8_000 } },
});
// #endregion

// #region own
export const withOwnFields = anthropic("claude-sonnet-5", {
  settings: {
    betas: ["context-1m-2025-08-07"], // sent as the header anthropic-beta
    tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }], // the vendor runs it
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    inference_geo: "us",
  },
});
// #endregion

// #region options
export const elsewhere = anthropic("claude-sonnet-5", {
  apiKey: async () => process.env["ROTATED_KEY"] ?? "k", // asked for each request
  baseUrl: "https://gateway.example/anthropic",
  headers: { "x-team": "search" },
  retry: { attempts: 5 },
  timeouts: { connectMs: 5_000, requestMs: 600_000 },
});
// #endregion
