import type { VendorEvent } from "../../framing/framing.ts";
import type { Protocol } from "../../protocol.ts";
import { request } from "./request.ts";
import { initial } from "./state.ts";
import type { ResponsesState } from "./state.ts";
import { step } from "./step.ts";
import { halt } from "./terminal.ts";

export type { ResponsesState } from "./state.ts";

/** OpenAI's Responses API, and servers that implement it. */
export const openAiResponses: Protocol<VendorEvent, ResponsesState> = {
  id: "openai-responses",
  initial,
  step,
  halt,
  request,
};
