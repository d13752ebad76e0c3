import type { JsonObject } from "@millrace/core";
import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { nativeTool } from "./native-tool.ts";
import { request } from "./request.ts";
import { openaiResponsesSettings } from "./settings.ts";
import { initial } from "./state.ts";
import type { ResponsesState } from "./state.ts";
import { step } from "./step.ts";
import { halt } from "./terminal.ts";

export type { ResponsesState } from "./state.ts";

const endings = ["completed", "incomplete", "failed"];

/** A response that came whole is what the last event of a stream has. */
function whole(response: JsonObject): readonly VendorEvent[] | undefined {
  const { object, status } = response;
  if (object !== "response" || typeof status !== "string" || !endings.includes(status))
    return undefined;
  return [{ name: "", data: { type: `response.${status}`, response } }];
}

/** OpenAI's Responses API, and servers that implement it. */
export const openaiResponsesProtocol: Protocol<VendorEvent, ResponsesState> = {
  id: "openai-responses",
  initial,
  step,
  whole,
  halt,
  request,
  nativeTool,
  scopesReasoning: true,
  appends: () => "tools",
  settings: openaiResponsesSettings,
};
