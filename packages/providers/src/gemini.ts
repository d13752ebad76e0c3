import type { Model } from "@millrace/core";
import { keyAuth, vendorEndpoint } from "./auth.ts";
import type { VendorOptions } from "./auth.ts";
import { checkProvider } from "./check-options.ts";
import { sseFraming } from "./framing/sse.ts";
import type { GeminiSettings } from "./protocols/gemini/fields.ts";
import { geminiProtocol as protocol } from "./protocols/gemini/protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";

// To compose a provider of your own.
export { geminiProtocol } from "./protocols/gemini/protocol.ts";

/** An image arrives in one event. */
const pictures = { limit: 64 * 1024 * 1024 };

/** Options of `gemini`: of its provider, and its key and address. */
export interface GeminiOptions extends ProviderOptions, VendorOptions {
  readonly settings?: GeminiSettings | undefined;
}

export type { GeminiSettings } from "./protocols/gemini/fields.ts";

const vendor = {
  variable: "GEMINI_BASE_URL",
  own: "https://generativelanguage.googleapis.com/v1beta",
};

/** A Gemini model. The key is `GEMINI_API_KEY`; the address may be set by `GEMINI_BASE_URL`. */
export function gemini(model: string, options: GeminiOptions = {}): Model {
  const door = { name: "gemini", from: gemini };
  checkProvider(door, { model, options, table: protocol.settings }, {});
  const { apiKey, baseUrl, ...common } = options;
  const auth = keyAuth(apiKey, { variable: "GEMINI_API_KEY", header: "x-goog-api-key" });
  const endpoint = vendorEndpoint(baseUrl, vendor);
  return createModel({ protocol, framing: sseFraming(pictures), endpoint, auth }, model, common);
}
