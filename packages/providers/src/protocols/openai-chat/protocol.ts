import type { JsonObject } from "@millrace/core";
import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { firstChoice, objectOf } from "./events.ts";
import { openaiChatRequest } from "./request.ts";
import { openaiChatSettings } from "./settings.ts";
import { initialState } from "./state.ts";
import type { OpenaiChatProtocolOptions, OpenaiChatState } from "./state.ts";
import { halt, step } from "./step.ts";

export type { OpenaiChatProtocolOptions, OpenaiChatState } from "./state.ts";

/** OpenAI's chat completions, and servers that imitate them. */
export function createOpenaiChatProtocol(
  options: OpenaiChatProtocolOptions = {},
): Protocol<VendorEvent, OpenaiChatState> {
  const { settings = openaiChatSettings } = options;
  return {
    id: "openai-chat",
    initial: (context) => initialState(context, options),
    step,
    whole,
    halt,
    request: (request, target) => openaiChatRequest(request, target, settings),
    appends: () => "instructions",
    settings,
  };
}

/** Servers such as llama-cpp-python answer some requests with one `chat.completion`. */
function whole(body: JsonObject): readonly VendorEvent[] | undefined {
  const message = objectOf(firstChoice(body)?.["message"]);
  const done = { name: "", data: undefined };
  return message === undefined ? undefined : [{ name: "", data: body }, done];
}

/** Chat completions as OpenAI has them. */
export const openaiChatProtocol: Protocol<VendorEvent, OpenaiChatState> =
  createOpenaiChatProtocol();
