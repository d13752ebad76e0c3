import { deepSeek, groq, mistral, ollama, openRouter, vllm } from "@millrace/providers/compatible";
import { openaiCompatible } from "@millrace/providers/openai";

// #region named
export const local = ollama("qwen3:8b"); // http://localhost:11434/v1, no key
export const served = vllm("Qwen/Qwen3-32B", {
  baseUrl: "http://localhost:8000/v1",
  settings: { maxTokens: 4_000, chat_template_kwargs: { enable_thinking: false } },
});
export const routed = openRouter("anthropic/claude-sonnet-4.5", {
  settings: { effort: "low", provider: { order: ["anthropic"] } }, // OPENROUTER_API_KEY
});
export const others = [
  deepSeek("deepseek-chat"), // DEEPSEEK_API_KEY
  groq("openai/gpt-oss-120b", { settings: { temperature: 0.3, seed: 7 } }), // GROQ_API_KEY
  mistral("mistral-large-latest", { settings: { stop: ["END"] } }), // MISTRAL_API_KEY
];
// #endregion

// #region other
export const other = openaiCompatible("some-model", {
  baseUrl: "http://localhost:9000/v1",
  apiKey: "k",
  thinkTags: true, // reasoning comes in the text, between <think> and </think>
  finishOptional: true, // the server ends replies with [DONE] alone
  settings: { maxTokens: 4_000, temperature: 0.3 },
});
// #endregion
