import type { JsonObject } from "@millrace/core";

/** A reply of a named server as its pages and sources show it: events of our own writing in its shape. */
export interface ServerStream {
  /** Data of events, or lines as they are. */
  readonly events: readonly (JsonObject | string)[];
  readonly reasoning?: string;
  readonly text: string;
  readonly output: number;
}

const chunk = (
  delta: JsonObject,
  finish: string | null = null,
  more: JsonObject = {},
): JsonObject => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const usage = (more: JsonObject = {}): JsonObject => ({
  usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, ...more },
});
const last = (more: JsonObject = {}): JsonObject => ({
  id: "c1",
  object: "chat.completion.chunk",
  choices: [],
  ...usage(more),
});
const done = "data: [DONE]";

/** One stream for each server. Each shows the field that its reasoning comes in, and where its usage is. */
export const serverStreams: Readonly<Record<string, ServerStream>> = {
  // openai/openai.go of ollama/ollama: reasoning in `reasoning`, the role in each chunk.
  ollama: {
    events: [
      chunk({ role: "assistant", content: "", reasoning: "Hm" }),
      chunk({ role: "assistant", content: "Hi" }),
      chunk({ role: "assistant", content: "" }, "stop"),
      last(),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // vllm/entrypoints/openai/chat_completion/protocol.py: `reasoning`, formerly `reasoning_content`.
  vllm: {
    events: [
      chunk({ role: "assistant", content: "" }, null, { prompt_token_ids: null }),
      chunk({ reasoning_content: "Hm", reasoning: "Hm" }),
      chunk({ content: "Hi" }),
      chunk({ content: "" }, "stop"),
      last(),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // tools/server of ggml-org/llama.cpp: timings beside the last choice and beside the usage.
  llamaCpp: {
    events: [
      chunk({ role: "assistant", content: null }),
      chunk({ reasoning_content: "Hm" }),
      chunk({ content: "Hi" }),
      chunk({}, "stop", { timings: { predicted_n: 5 } }),
      { ...last(), timings: { predicted_n: 5 } },
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // LM Studio's page of chat completions: reasoning in the text by default.
  lmStudio: {
    events: [
      chunk({ role: "assistant", content: "<think>H" }),
      chunk({ content: "m</think>\n\nHi" }),
      chunk({}, "stop"),
      last(),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // OpenRouter's pages of streaming and of reasoning tokens: comments, details, costs.
  openRouter: {
    events: [
      ": OPENROUTER PROCESSING",
      chunk({
        role: "assistant",
        content: "",
        reasoning: "Hm",
        reasoning_details: [{ type: "reasoning.text", text: "Hm", format: "unknown", index: 0 }],
      }),
      chunk({ content: "Hi" }, null, { provider: "Acme" }),
      chunk({ content: "" }, "stop", { provider: "Acme" }),
      last({ cost: 0.0001, is_byok: false }),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // DeepSeek's page of chat completions: comments as a sign of life, usage beside the finish.
  deepSeek: {
    events: [
      ": keep-alive",
      chunk({ role: "assistant", content: null, reasoning_content: "" }),
      chunk({ content: null, reasoning_content: "Hm" }),
      chunk({ content: "Hi", reasoning_content: null }),
      chunk(
        { content: "", reasoning_content: null },
        "stop",
        usage({ prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 5 }),
      ),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // Groq's pages of reasoning and of its API: an extension with its own id and usage.
  groq: {
    events: [
      chunk({ role: "assistant", content: "" }, null, { x_groq: { id: "req_1" } }),
      chunk({ content: "<think>Hm</think>" }),
      chunk({ content: "Hi" }),
      chunk({}, "stop", { x_groq: { id: "req_1", ...usage() } }),
      last(),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // Mistral's page of reasoning: pieces of content, thinking among them; usage beside the finish.
  mistral: {
    events: [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }] }),
      chunk({ content: "Hi" }),
      chunk({ content: "" }, "stop", usage()),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // xAI's page of reasoning: tokens of reasoning stand beside those of the completion.
  xai: {
    events: [
      chunk({ role: "assistant", reasoning_content: "Hm" }),
      chunk({ content: "Hi", role: "assistant" }),
      chunk({}, "stop"),
      last({ total_tokens: 16, completion_tokens_details: { reasoning_tokens: 2 } }),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 7,
  },
  // Together's page of streaming: one letter twice, and the usage beside the finish.
  together: {
    events: [
      chunk({ role: "assistant", content: "<think>\nHm\n</think>\n\n", token_id: 1 }),
      chunk({ content: "Hi", token_id: 2 }),
      chunk({ content: "", token_id: 3 }, "stop", usage()),
      done,
    ],
    reasoning: "\nHm\n",
    text: "Hi",
    output: 5,
  },
  // Fireworks' page of reasoning: its own field, and the usage beside the finish.
  fireworks: {
    events: [
      chunk({ role: "assistant" }),
      chunk({ reasoning_content: "Hm" }),
      chunk({ content: "Hi" }),
      chunk({}, "stop", usage()),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
  // Cerebras' page of streaming: usage and times beside the finish.
  cerebras: {
    events: [
      chunk({ role: "assistant" }),
      chunk({ reasoning: "Hm" }),
      chunk({ content: "Hi" }),
      chunk({}, "stop", { ...usage(), time_info: { total_time: 0.1 } }),
      done,
    ],
    reasoning: "Hm",
    text: "Hi",
    output: 5,
  },
};
