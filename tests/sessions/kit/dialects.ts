import type { ModelRequest, Transcript } from "@millrace/core";
import type { VendorEvent } from "../../../packages/providers/src/framing/framing.ts";
import type { Protocol } from "../../../packages/providers/src/protocol.ts";
import { anthropicMessages } from "../../../packages/providers/src/protocols/anthropic-messages/protocol.ts";
import { gemini } from "../../../packages/providers/src/protocols/gemini/protocol.ts";
import { openAiChat } from "../../../packages/providers/src/protocols/openai-chat/protocol.ts";
import { openAiResponses } from "../../../packages/providers/src/protocols/openai-responses/protocol.ts";
import { nativeReplies } from "../../../packages/providers/src/testing/native-replies.ts";
import { brokenLaws } from "../../../packages/providers/src/testing/request-laws.ts";
import type { Target } from "../../../packages/providers/src/testing/request-laws.ts";
import type { Native } from "../../../packages/providers/src/testing/transcripts.ts";
import { validateAnthropicMessages } from "../../../packages/providers/src/testing/validators/anthropic-messages.ts";
import { validateGemini } from "../../../packages/providers/src/testing/validators/gemini.ts";
import { validateOpenAiChat } from "../../../packages/providers/src/testing/validators/openai-chat.ts";
import { validatePairs } from "../../../packages/providers/src/testing/validators/openai-responses-pairs.ts";
import { validateOpenAiResponses } from "../../../packages/providers/src/testing/validators/openai-responses.ts";

/** A protocol asked for one model, its judge, and what it has replied in our fixtures. */
export type Dialect = Target & Native;

function dialect<State>(
  protocol: Protocol<VendorEvent, State>,
  model: string,
  validate: Target["validate"],
): Dialect {
  return {
    protocol: protocol.id,
    model,
    ...nativeReplies(protocol),
    request: (request) => protocol.request(request, { model }),
    validate,
  };
}

/** Imitators' fields go back only to the server that sent them. */
function hasExtensions(transcript: Transcript): boolean {
  return transcript.some(
    ({ model, parts }) => model === "openai-chat/gpt-5" && parts.some((part) => "opaque" in part),
  );
}

/** What fixtures hold that no version of ours knows. It goes back as it came. */
const later = ["hologram", "mcp_tool_listing"];
const geminiModel = "gemini-2.5-flash";

export const dialects: readonly Dialect[] = [
  dialect(openAiChat, "gpt-5", (body, transcript) =>
    validateOpenAiChat(body, { extensions: hasExtensions(transcript) }),
  ),
  dialect(openAiResponses, "gpt-5", (body, transcript) => [
    ...validateOpenAiResponses(body),
    ...validatePairs(body, transcript, "openai-responses/gpt-5"),
  ]),
  dialect(anthropicMessages, "claude-sonnet-4-5", (body) =>
    validateAnthropicMessages(body, { later }),
  ),
  dialect(gemini, geminiModel, (body) => validateGemini(body, { model: geminiModel, later })),
];

/** What a vendor would refuse of the request, or of what a transcript says is lost in it. */
export function refusedBy(request: ModelRequest): readonly string[] {
  const { signal: _, notify: __, ...plain } = request;
  return dialects.flatMap((target) =>
    brokenLaws(target, plain).map((law) => `${target.protocol}: ${law}`),
  );
}
