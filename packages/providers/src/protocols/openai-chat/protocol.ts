import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { openAiChatRequest } from "./request.ts";
import { initialState } from "./state.ts";
import type { OpenAiChatOptions, OpenAiChatState } from "./state.ts";
import { halt, step } from "./step.ts";

export type { OpenAiChatOptions, OpenAiChatState } from "./state.ts";

/** OpenAI's chat completions, and servers that imitate them. */
export function createOpenAiChat(
  options: OpenAiChatOptions = {},
): Protocol<VendorEvent, OpenAiChatState> {
  return {
    id: "openai-chat",
    initial: (context) => initialState(context, options),
    step,
    halt,
    request: openAiChatRequest,
  };
}

export const openAiChat: Protocol<VendorEvent, OpenAiChatState> = createOpenAiChat();
