import type { Model } from "@millrace/core";
import { expects } from "@millrace/core/checks";
import type { OptionChecks } from "@millrace/core/checks";
import { checkProvider } from "./check-options.ts";
import { mapRequest } from "./endpoint.ts";
import { sseFraming } from "./framing/sse.ts";
import { noKey, placeChecks, placeOf, tokenAuth } from "./google-place.ts";
import type { VertexPlace } from "./google-place.ts";
import type { AnthropicSettings } from "./protocols/anthropic-messages/fields.ts";
import { anthropicMessagesProtocol } from "./protocols/anthropic-messages/protocol.ts";
import { askFor } from "./protocols/output.ts";
import { createModel } from "./provider.ts";
import type { ProviderOptions } from "./provider.ts";

export { metadataToken, serviceAccount } from "./service-account.ts";
export type { ServiceAccountKey, TokenOptions } from "./service-account.ts";
export type { VertexPlace } from "./google-place.ts";

/** Options of `vertexAnthropic`: the project, its location, and a token. */
export interface VertexAnthropicOptions extends ProviderOptions, VertexPlace {
  /**
   * True if the organisation allows structured outputs. Google Cloud forbids them by default, so the shape of a
   * reply is then described in the instructions.
   */
  readonly structuredOutputs?: boolean | undefined;
  readonly settings?: AnthropicSettings | undefined;
}

type Own = VertexPlace & { readonly structuredOutputs?: boolean; readonly apiKey?: undefined };

const own: OptionChecks<Own> = {
  ...placeChecks,
  structuredOutputs: expects.optional(expects.flag),
  apiKey: noKey,
};

/** The model is in the path, and the version in the body. */
const mapped = mapRequest(anthropicMessagesProtocol, ({ headers, body }, { model }) => {
  const { model: _, ...fields } = body;
  const { "anthropic-version": __, ...others } = headers ?? {};
  return {
    path: `/publishers/anthropic/models/${encodeURIComponent(model)}:streamRawPredict`,
    headers: others,
    body: { anthropic_version: "vertex-2023-10-16", ...fields },
  };
});

/** Tools can't be added by their definitions here. */
const messages: typeof mapped = { ...mapped, appends: () => "instructions" };

/** The same with the shape of a reply in words. */
const worded: typeof messages = {
  ...messages,
  request: ({ output, ...request }, target) => {
    const { instructions } = askFor({ ...request, output }, () => undefined);
    return messages.request({ ...request, instructions }, target);
  },
};

/**
 * A Claude model of Vertex AI, by its name there, such as `claude-sonnet-4-5@20250929`. The environment is read
 * as by `vertex`.
 */
export function vertexAnthropic(model: string, options: VertexAnthropicOptions = {}): Model {
  const door = { name: "vertexAnthropic", from: vertexAnthropic };
  checkProvider<Own>(door, { model, options, table: messages.settings }, own);
  const { project, location, token, baseUrl, structuredOutputs = false, ...common } = options;
  const parts = {
    protocol: structuredOutputs ? messages : worded,
    framing: sseFraming(),
    endpoint: placeOf({ project, location, baseUrl }, "v1"),
    auth: tokenAuth(token),
  };
  return createModel(parts, model, common);
}
