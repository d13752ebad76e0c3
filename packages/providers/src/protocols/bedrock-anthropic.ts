import { mapRequest } from "../endpoint.ts";
import type { VendorEvent } from "../framing/framing.ts";
import type { Protocol } from "../protocol.ts";
import { anthropicMessages } from "./anthropic-messages/protocol.ts";
import type { AnthropicMessagesState } from "./anthropic-messages/protocol.ts";
import { modelPath } from "./bedrock-converse/request.ts";

/**
 * Anthropic's Messages by InvokeModelWithResponseStream of Amazon Bedrock: with the model in the path, and
 * the version and betas in the body.
 */
export const bedrockAnthropicMessages: Protocol<VendorEvent, AnthropicMessagesState> = mapRequest(
  anthropicMessages,
  ({ headers = {}, body }, { model }) => {
    const { model: _, stream: __, ...fields } = body;
    const betas = headers["anthropic-beta"]?.split(",");
    return {
      path: modelPath(model, "invoke-with-response-stream"),
      body: {
        anthropic_version: "bedrock-2023-05-31",
        ...(betas === undefined ? {} : { anthropic_beta: betas }),
        ...fields,
      },
    };
  },
);
