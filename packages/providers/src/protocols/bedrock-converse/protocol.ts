import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { halt } from "./halt.ts";
import { protocolId, request } from "./request.ts";
import { bedrockSettings } from "./settings.ts";
import { initial } from "./state.ts";
import type { BedrockConverseState } from "./state.ts";
import { step } from "./step.ts";

export type { BedrockConverseState } from "./state.ts";

/** Amazon Bedrock's ConverseStream, which is one format for all of its models. */
export const bedrockConverseProtocol: Protocol<VendorEvent, BedrockConverseState> = {
  id: protocolId,
  initial,
  step,
  halt,
  request,
  appends: () => "instructions",
  settings: bedrockSettings,
};
