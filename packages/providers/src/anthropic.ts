import type { Model } from "@millrace/core";
import { expects, refusal } from "@millrace/core/checks";
import { bearerAuth, keyAuth, vendorEndpoint } from "./auth.ts";
import type { Key, VendorOptions } from "./auth.ts";
import { checkProvider, keyCheck } from "./check-options.ts";
import { sseFraming } from "./framing/sse.ts";
import type { AnthropicSettings } from "./protocols/anthropic-messages/fields.ts";
import { anthropicMessagesProtocol } from "./protocols/anthropic-messages/protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";

export type { AnthropicSettings } from "./protocols/anthropic-messages/fields.ts";
// To compose a provider of your own.
export { anthropicMessagesProtocol } from "./protocols/anthropic-messages/protocol.ts";

/** Options of `anthropic`: of its provider, and its key and address. */
export interface AnthropicOptions extends ProviderOptions, VendorOptions {
  /** A bearer token instead of a key, as gateways and identity services give it. */
  readonly token?: Key | undefined;
  readonly settings?: AnthropicSettings | undefined;
}

const vendor = { variable: "ANTHROPIC_BASE_URL", own: "https://api.anthropic.com" };

/**
 * A Claude model, or a server that speaks Anthropic Messages. The key is `ANTHROPIC_API_KEY`; the
 * address may be set by `ANTHROPIC_BASE_URL`.
 */
export function anthropic(model: string, options: AnthropicOptions = {}): Model {
  const door = { name: "anthropic", from: anthropic };
  const own = { token: expects.optional(keyCheck) };
  checkProvider(door, { model, options, table: anthropicMessagesProtocol.settings }, own);
  const { apiKey, token, baseUrl, ...common } = options;
  if (apiKey !== undefined && token !== undefined) {
    throw refusal(door, "apiKey and token are both given: pass the one that is to be sent");
  }
  const auth =
    token === undefined
      ? keyAuth(apiKey, { variable: "ANTHROPIC_API_KEY", header: "x-api-key" })
      : bearerAuth(token);
  const endpoint = vendorEndpoint(baseUrl, vendor);
  const parts = { protocol: anthropicMessagesProtocol, framing: sseFraming(), endpoint, auth };
  return createModel(parts, model, common);
}
