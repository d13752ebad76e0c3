import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { halt } from "./halt.ts";
import { refusedFeature } from "./features.ts";
import { protocolId, request } from "./request.ts";
import { claude } from "./models.ts";
import { nativeTool } from "./native-tool.ts";
import { anthropicSettings } from "./settings.ts";
import { initial } from "./state.ts";
import type { AnthropicMessagesState } from "./state.ts";
import { step } from "./step.ts";

export type { AnthropicMessagesState } from "./state.ts";

/** Anthropic's Messages API, and servers that implement it. */
export const anthropicMessagesProtocol: Protocol<VendorEvent, AnthropicMessagesState> = {
  id: protocolId,
  initial,
  step,
  halt,
  request,
  appends: (model) => (claude(model).takesUpdates ? "tools" : "instructions"),
  refusedFeature,
  bindsReasoning: (model) => claude(model).bindsThinking,
  summarises: (model) => claude(model).summarises,
  nativeTool,
  settings: anthropicSettings,
};
