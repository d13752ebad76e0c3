import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { halt } from "./halt.ts";
import { nativeTool } from "./native-tool.ts";
import { protocolId, request } from "./request.ts";
import { geminiSettings } from "./settings.ts";
import { initial } from "./state.ts";
import type { GeminiState } from "./state.ts";
import { step } from "./step.ts";

export type { GeminiState } from "./state.ts";

/** Gemini's `streamGenerateContent`, as server-sent events. */
export const geminiProtocol: Protocol<VendorEvent, GeminiState> = {
  id: protocolId,
  initial,
  step,
  halt,
  request,
  nativeTool,
  scopesReasoning: true,
  appends: () => "instructions",
  settings: geminiSettings,
};
