import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { claude } from "../anthropic-messages/models.ts";
import { bindingFeature } from "../claude-binding.ts";
import { halt } from "./halt.ts";
import { protocolId, request } from "./request.ts";
import { bedrockSettings } from "./settings.ts";
import { initial } from "./state.ts";
import type { BedrockConverseState } from "./state.ts";
import { step } from "./step.ts";

export type { BedrockConverseState } from "./state.ts";

const refusesBinding = /block_binding|thinking-binding-controls|invalid beta flag/i;

/** Amazon Bedrock's ConverseStream, which is one format for all of its models. */
export const bedrockConverseProtocol: Protocol<VendorEvent, BedrockConverseState> = {
  id: protocolId,
  initial,
  step,
  halt,
  request,
  appends: () => "instructions",
  bindsReasoning: (model) => claude(model).bindsThinking,
  refusedFeature: ({ code, message }, off) =>
    code === "bad_request" && !off.has(bindingFeature) && refusesBinding.test(message)
      ? bindingFeature
      : undefined,
  settings: bedrockSettings,
};
