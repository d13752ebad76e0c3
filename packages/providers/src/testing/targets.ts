import type { Transcript } from "@millrace/core";
import type { VendorEvent } from "../framing/framing.ts";
import type { Protocol } from "../protocol.ts";
import { anthropicMessagesProtocol } from "../protocols/anthropic-messages/protocol.ts";
import { bedrockConverseProtocol } from "../protocols/bedrock-converse/protocol.ts";
import { geminiProtocol } from "../protocols/gemini/protocol.ts";
import { openaiChatProtocol } from "../protocols/openai-chat/protocol.ts";
import { openaiResponsesProtocol } from "../protocols/openai-responses/protocol.ts";
import { nativeToolsOf } from "../protocols/native-tools.ts";
import { wireNamesOf, withWireNames } from "../protocols/tool-names.ts";
import { nativeReplies } from "./native-replies.ts";
import type { Target } from "./request-laws.ts";
import type { Native } from "./transcripts.ts";
import { validateAnthropicMessages } from "./validators/anthropic-messages.ts";
import { validateBedrockConverse } from "./validators/bedrock-converse.ts";
import { validateGemini } from "./validators/gemini.ts";
import { validateOpenaiChat } from "./validators/openai-chat.ts";
import { validatePairs } from "./validators/openai-responses-pairs.ts";
import { validateOpenaiResponses } from "./validators/openai-responses.ts";

/** A protocol with a model, its validator, and its replies in the fixtures. */
export type NativeTarget = Target & Native;

function targetOf<State>(
  protocol: Protocol<VendorEvent, State>,
  model: string,
  validate: Target["validate"],
): NativeTarget {
  return {
    protocol: protocol.id,
    model,
    ...nativeReplies(protocol),
    request: (request) => {
      const native = nativeToolsOf(request.tools ?? [], protocol, model);
      return protocol.request(withWireNames(request, wireNamesOf(request, native)), { model });
    },
    native: (tools) => nativeToolsOf(tools, protocol, model),
    validate,
  };
}

/** True if imitators' fields are included. They go back only to the server that sent them. */
function hasExtensions(transcript: Transcript): boolean {
  return transcript.some(
    ({ model, parts }) => model === "openai-chat/gpt-5" && parts.some((part) => "opaque" in part),
  );
}

/** Types in the fixtures that no version of this package knows. They are sent back unchanged. */
const later = ["hologram", "mcp_tool_listing"];

export const targets: readonly NativeTarget[] = [
  targetOf(openaiChatProtocol, "gpt-5", (body, transcript) =>
    validateOpenaiChat(body, { extensions: hasExtensions(transcript) }),
  ),
  targetOf(openaiResponsesProtocol, "gpt-5", (body, transcript) => [
    ...validateOpenaiResponses(body),
    ...validatePairs(body, transcript, "openai-responses/gpt-5"),
  ]),
  targetOf(anthropicMessagesProtocol, "claude-sonnet-4-5", (body) =>
    validateAnthropicMessages(body, { later }),
  ),
  ...["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "mistral.mistral-large-2407-v1:0"].map(
    (model) =>
      targetOf(bedrockConverseProtocol, model, (body) => validateBedrockConverse(body, { model })),
  ),
  ...["gemini-3-pro-preview", "gemini-2.5-flash"].map((model) =>
    targetOf(geminiProtocol, model, (body) => validateGemini(body, { model, later })),
  ),
];
