import type { JsonObject } from "@millrace/core";
import type { OpenaiChatProtocolOptions } from "./protocols/openai-chat/protocol.ts";

/** How a server that imitates chat completions differs from the vendor, as data. */
export interface CompatibleServer {
  /** As people write it, for messages. */
  readonly name: string;
  /** With the version. */
  readonly baseUrl: string;
  /** The variable of its key. */
  readonly variable: string;
  /** True for servers that people run themselves, mostly without a key. */
  readonly keyOptional?: boolean;
  /** What its streams have that their bytes do not show. */
  readonly reads?: Omit<OpenaiChatProtocolOptions, "settings">;
  /**
   * Settings that are sent unless the caller sets them. `stream_options: null` is for servers that refuse the
   * field and send the usage anyway.
   */
  readonly settings?: JsonObject;
  /** Its own names of the vendor's fields. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Its own words for a tool choice. */
  readonly toolChoices?: Readonly<Record<string, string>>;
  /** Models that take `response_format` with a schema. Others get the shape in words. Left out: all. */
  readonly formats?: RegExp;
  /** Fields that it ignores or refuses without saying so, each with what to do instead. */
  readonly refused?: Readonly<Record<string, string>>;
  /** The page that this is from. */
  readonly page: string;
}

/** `max_completion_tokens` is OpenAI's younger name, which not every server knows. */
const olderLimit = { max_completion_tokens: "max_tokens" } as const;
const never = /(?!)/;

/**
 * The servers by the names of their functions. Reasoning is read from whichever field it comes in, and calls
 * by whichever of id, index and order is there, so neither is a column. Ids for Mistral's models are
 * nine characters on any server (`wire-ids.ts`).
 */
export const compatibleServers: Readonly<Record<string, CompatibleServer>> = {
  ollama: {
    name: "Ollama",
    baseUrl: "http://localhost:11434/v1",
    variable: "OLLAMA_API_KEY",
    keyOptional: true,
    renamed: olderLimit,
    refused: {
      tool_choice: "leave it out, or offer only the tools that may be called",
      logit_bias: "leave it out",
    },
    page: "https://docs.ollama.com/api/openai-compatibility",
  },
  vllm: {
    name: "vLLM",
    baseUrl: "http://localhost:8000/v1",
    variable: "VLLM_API_KEY",
    keyOptional: true,
    page: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server/",
  },
  llamaCpp: {
    name: "llama.cpp",
    baseUrl: "http://localhost:8080/v1",
    variable: "LLAMA_API_KEY",
    keyOptional: true,
    renamed: olderLimit,
    page: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
  },
  lmStudio: {
    name: "LM Studio",
    baseUrl: "http://localhost:1234/v1",
    variable: "LM_API_TOKEN",
    keyOptional: true,
    // Reasoning is in the text unless the user switches its own field on.
    reads: { thinkTags: true },
    renamed: olderLimit,
    page: "https://lmstudio.ai/docs/developer/openai-compat/chat-completions",
  },
  openRouter: {
    name: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    variable: "OPENROUTER_API_KEY",
    renamed: olderLimit,
    page: "https://openrouter.ai/docs/api-reference/parameters",
  },
  deepSeek: {
    name: "DeepSeek",
    baseUrl: "https://api.deepseek.com",
    variable: "DEEPSEEK_API_KEY",
    renamed: olderLimit,
    // Only `json_object`, which has no schema.
    formats: never,
    page: "https://api-docs.deepseek.com/api/create-chat-completion",
  },
  groq: {
    name: "Groq",
    baseUrl: "https://api.groq.com/openai/v1",
    variable: "GROQ_API_KEY",
    // The default of `reasoning_format` is `raw` for most models.
    reads: { thinkTags: true },
    formats: /gpt-oss|kimi-k2|llama-4/,
    page: "https://console.groq.com/docs/openai",
  },
  mistral: {
    name: "Mistral",
    baseUrl: "https://api.mistral.ai/v1",
    variable: "MISTRAL_API_KEY",
    // Fields that are not its own are refused with 422. The last event has the usage.
    settings: { stream_options: null },
    renamed: { ...olderLimit, seed: "random_seed" },
    toolChoices: { required: "any" },
    page: "https://docs.mistral.ai/api/endpoint/chat",
  },
  xai: {
    name: "xAI",
    baseUrl: "https://api.x.ai/v1",
    variable: "XAI_API_KEY",
    page: "https://docs.x.ai/docs/api-reference",
  },
  together: {
    name: "Together",
    baseUrl: "https://api.together.xyz/v1",
    variable: "TOGETHER_API_KEY",
    // Models such as DeepSeek R1 write their reasoning into the text.
    reads: { thinkTags: true },
    renamed: olderLimit,
    page: "https://docs.together.ai/reference/chat-completions-1",
  },
  fireworks: {
    name: "Fireworks",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    variable: "FIREWORKS_API_KEY",
    reads: { thinkTags: true },
    renamed: olderLimit,
    page: "https://docs.fireworks.ai/api-reference/post-chatcompletions",
  },
  cerebras: {
    name: "Cerebras",
    baseUrl: "https://api.cerebras.ai/v1",
    variable: "CEREBRAS_API_KEY",
    page: "https://inference-docs.cerebras.ai/resources/openai",
  },
};
