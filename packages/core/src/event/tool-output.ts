import type { ToolResultPart } from "../content/part.ts";
import type { Json } from "../json.ts";
import type { FactOf } from "./event.ts";
import type { SessionState } from "./state.ts";

/**
 * What a tool returned, as JSON, in the state before its `tool_execution_finished`: the result is stored
 * right before that fact, in one transaction, and so is the newest item. Undefined unless it succeeded.
 */
export function outputOf(
  before: SessionState,
  { callId, status }: Pick<FactOf<"tool_execution_finished">, "callId" | "status">,
): Json | undefined {
  if (status !== "ok") return undefined;
  for (const part of before.items.at(-1)?.parts ?? []) {
    if (part.kind !== "tool_result" || part.callId !== callId || part.status !== "ok") continue;
    return returnedBy(part);
  }
  return undefined;
}

/** What a tool returned. A string is stored once, as the text of the result. Null is an output. */
export function returnedBy({ text, output = text }: ToolResultPart): Json {
  return output;
}
