import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import type { SettingsTable } from "../../settings.ts";
import { halt } from "./halt.ts";
import { nativeTool } from "./native-tool.ts";
import { geminiRequest, protocolId } from "./request.ts";
import { geminiSettings, vertexGeminiSettings } from "./settings.ts";
import { initial } from "./state.ts";
import type { GeminiState } from "./state.ts";
import { step } from "./step.ts";

export type { GeminiState } from "./state.ts";

/** Gemini's `streamGenerateContent`, as server-sent events. */
export const gemini: Protocol<VendorEvent, GeminiState> = geminiBy(geminiSettings);

/** The same on Vertex AI, before its addresses. */
export const vertexGemini: Protocol<VendorEvent, GeminiState> = geminiBy(vertexGeminiSettings);

function geminiBy(settings: SettingsTable): Protocol<VendorEvent, GeminiState> {
  return {
    id: protocolId,
    initial,
    step,
    halt,
    request: (request, target) => geminiRequest(request, target, settings),
    nativeTool,
    settings,
  };
}
