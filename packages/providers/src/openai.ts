import type { Model } from "@millrace/core";
import { keyAuth } from "./auth.ts";
import type { VendorOptions } from "./auth.ts";
import { sseFraming } from "./framing/sse.ts";
import { createOpenAiChat, openAiChat } from "./protocols/openai-chat/protocol.ts";
import { openAiResponses } from "./protocols/openai-responses/protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";

export interface OpenAiOptions extends ProviderOptions, VendorOptions {}

const vendor = "https://api.openai.com/v1";
const key = { variable: "OPENAI_API_KEY", header: "authorization", prefix: "Bearer " };

/** Pictures come whole, in one event, and once more in the last one. */
const pictures = { limit: 64 * 1024 * 1024 };

/** An OpenAI model by the Responses API. The key is `OPENAI_API_KEY`. */
export function openai(model: string, options: OpenAiOptions = {}): Model {
  const { apiKey, baseUrl = vendor, ...common } = options;
  const auth = keyAuth(apiKey, key);
  const parts = {
    protocol: openAiResponses,
    framing: sseFraming(pictures),
    endpoint: { baseUrl },
    auth,
  };
  return createModel(parts, model, common);
}

/** An OpenAI model by chat completions. */
export function openaiChat(model: string, options: OpenAiOptions = {}): Model {
  const { apiKey, baseUrl = vendor, ...common } = options;
  const auth = keyAuth(apiKey, key);
  const parts = { protocol: openAiChat, framing: sseFraming(), endpoint: { baseUrl }, auth };
  return createModel(parts, model, common);
}

export interface OpenAiCompatibleOptions extends ProviderOptions {
  /** With its version, as `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  /** Left out: none is sent. */
  readonly apiKey?: VendorOptions["apiKey"];
  /** The server writes reasoning into its text, between `<think>` and `</think>`. */
  readonly thinkTags?: boolean | undefined;
  /** The server ends replies by `[DONE]` alone. Text counts as whole then; a call never does. */
  readonly finishOptional?: boolean | undefined;
}

/** A server that imitates OpenAI's chat completions, of which there are many. */
export function openaiCompatible(model: string, options: OpenAiCompatibleOptions): Model {
  const { apiKey, baseUrl, thinkTags, finishOptional, ...common } = options;
  const protocol = createOpenAiChat({ thinkTags, finishOptional });
  const auth = keyAuth(apiKey ?? "", { ...key, optional: true });
  return createModel(
    { protocol, framing: sseFraming(), endpoint: { baseUrl }, auth },
    model,
    common,
  );
}
