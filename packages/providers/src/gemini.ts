import type { Model } from "@millrace/core";
import { keyAuth } from "./auth.ts";
import type { VendorOptions } from "./auth.ts";
import { sseFraming } from "./framing/sse.ts";
import { gemini as protocol } from "./protocols/gemini/protocol.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";

/** Pictures come whole, in one event. */
const pictures = { limit: 64 * 1024 * 1024 };

export interface GeminiOptions extends ProviderOptions, VendorOptions {}

/** A Gemini model. The key is `GEMINI_API_KEY`. */
export function gemini(model: string, options: GeminiOptions = {}): Model {
  const {
    apiKey,
    baseUrl = "https://generativelanguage.googleapis.com/v1beta",
    ...common
  } = options;
  const auth = keyAuth(apiKey, { variable: "GEMINI_API_KEY", header: "x-goog-api-key" });
  return createModel(
    { protocol, framing: sseFraming(pictures), endpoint: { baseUrl }, auth },
    model,
    common,
  );
}
