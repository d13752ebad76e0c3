import type { VendorTool } from "@millrace/core/model";
import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { anthropicMessagesProtocol } from "../../protocols/anthropic-messages/protocol.ts";
import { bedrockConverseProtocol } from "../../protocols/bedrock-converse/protocol.ts";
import { geminiProtocol } from "../../protocols/gemini/protocol.ts";
import { openaiChatProtocol } from "../../protocols/openai-chat/protocol.ts";
import { openaiResponsesProtocol } from "../../protocols/openai-responses/protocol.ts";
import { decode } from "../decode.ts";
import type { Decoded, DecodeOptions } from "../decode.ts";
import { framingOf } from "../fixtures.ts";
import { offeredContext } from "../offers.ts";
import { encodeAnthropicMessages } from "./anthropic-messages.ts";
import { encodeBedrockAnthropic, encodeBedrockConverse } from "./bedrock.ts";
import type { Encode } from "./encoded.ts";
import { encodeGemini } from "./gemini.ts";
import { encodeOpenaiChat } from "./openai-chat.ts";
import { encodeOpenaiResponses } from "./openai-responses.ts";

/** A vendor's format, written by these encoders and read by our protocol. */
export interface Dialect {
  readonly name: string;
  readonly encode: Encode;
  readonly read: (chunks: Iterable<Uint8Array>, options?: DecodeOptions) => Decoded;
  /** What a reply is read with if these tools were offered. */
  readonly offered: (offers: readonly VendorTool[] | undefined) => DecodeOptions;
}

export const dialects: readonly Dialect[] = [
  dialect(openaiChatProtocol, encodeOpenaiChat),
  dialect(openaiResponsesProtocol, encodeOpenaiResponses),
  dialect(anthropicMessagesProtocol, encodeAnthropicMessages),
  dialect(geminiProtocol, encodeGemini),
  dialect(bedrockConverseProtocol, encodeBedrockConverse),
  dialect(anthropicMessagesProtocol, encodeBedrockAnthropic, "bedrock-anthropic"),
];

function dialect<State>(
  protocol: Protocol<VendorEvent, State>,
  encode: Encode,
  name: string = protocol.id,
): Dialect {
  const framing = framingOf(name);
  return {
    name,
    encode,
    read: (chunks, options) => decode(protocol, framing, chunks, options),
    offered: (offers) => offeredContext(protocol, offers),
  };
}
