import type { Model } from "@millrace/core";
import { keyAuth } from "./auth.ts";
import type { VendorOptions } from "./auth.ts";
import { sseFraming } from "./framing/sse.ts";
import { anthropicMessages } from "./protocols/anthropic-messages/protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";

export interface AnthropicOptions extends ProviderOptions, VendorOptions {}

/** A Claude model, or a server that speaks Anthropic Messages. The key is `ANTHROPIC_API_KEY`. */
export function anthropic(model: string, options: AnthropicOptions = {}): Model {
  const { apiKey, baseUrl = "https://api.anthropic.com", ...common } = options;
  const auth = keyAuth(apiKey, { variable: "ANTHROPIC_API_KEY", header: "x-api-key" });
  const parts = { protocol: anthropicMessages, framing: sseFraming(), endpoint: { baseUrl }, auth };
  return createModel(parts, model, common);
}
