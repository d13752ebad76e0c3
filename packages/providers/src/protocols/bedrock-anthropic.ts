import type { JsonObject } from "@millrace/core";
import { mapRequest } from "../endpoint.ts";
import type { VendorEvent } from "../framing/framing.ts";
import type { Protocol } from "../protocol.ts";
import { anthropicMessages } from "./anthropic-messages/protocol.ts";
import type { AnthropicMessagesState } from "./anthropic-messages/protocol.ts";
import { anthropicSettings } from "./anthropic-messages/settings.ts";
import { modelPath } from "./bedrock-converse/request.ts";
import { refuse } from "./settings.ts";

/**
 * Anthropic's Messages by InvokeModelWithResponseStream of Amazon Bedrock: with the model in the path, and
 * the version and betas in the body.
 */
export const bedrockAnthropicMessages: Protocol<VendorEvent, AnthropicMessagesState> = mapRequest(
  anthropicMessages,
  ({ headers = {}, body }, { model }) => {
    const { model: _, stream: __, service_tier: tier, ...fields } = body as Partial<JsonObject>;
    if (tier !== undefined) throw refuse(anthropicSettings, "serviceTier", tier, tierHeader);
    const betas = headers["anthropic-beta"]?.split(",");
    return {
      path: modelPath(model, "invoke-with-response-stream"),
      body: {
        anthropic_version: "bedrock-2023-05-31",
        ...(betas === undefined ? {} : { anthropic_beta: betas }),
        ...(fields as JsonObject),
      },
    };
  },
);

const tierHeader =
  'Bedrock takes it as a header: set headers: { "X-Amzn-Bedrock-Service-Tier": "flex" }, or leave it out';
