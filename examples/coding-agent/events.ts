// The events of a coding agent, as its own program names them. They are a view of the session's story,
// so the terminal, the log and the tests all show the same.
import type { Item, Narration } from "@millrace/core";

// #region union
export interface AssistantMessage {
  readonly text: string;
  readonly stopReason: "endTurn" | "toolUse" | "aborted" | "error";
}

export type AgentEvent =
  | { type: "assistant_text_delta"; text: string }
  | { type: "tool_call_started"; id: string; name: string }
  | { type: "tool_call_arguments_delta"; id: string; delta: string }
  | { type: "tool_call_ready"; id: string; name: string; input: unknown }
  | { type: "tool_execution_started"; id: string; name: string }
  | { type: "tool_execution_update"; id: string; text: string }
  | { type: "tool_execution_finished"; id: string; isError: boolean }
  | { type: "turn_finished"; message: AssistantMessage }
  | { type: "aborted" };

/** One stream, two views: what happens as it happens, and what came of it. */
export interface EventStream<TEvent, TResult> {
  readonly events: AsyncIterable<TEvent>;
  readonly result: Promise<TResult>;
}

/** The event of this program for a narration, or nothing for one that it does not show. */
export function agentEvent(narration: Narration): AgentEvent | undefined {
  switch (narration.type) {
    case "assistant_text_delta":
      return { type: narration.type, text: narration.text };
    case "tool_call_started":
    case "tool_execution_started":
      return { type: narration.type, id: narration.callId, name: narration.tool };
    case "tool_call_arguments_delta":
      return { type: narration.type, id: narration.callId, delta: narration.text };
    case "tool_call_ready":
      return {
        type: narration.type,
        id: narration.callId,
        name: narration.tool,
        input: narration.input,
      };
    case "tool_execution_update":
      return { type: narration.type, id: narration.callId, text: narration.message };
    case "tool_execution_finished":
      return { type: narration.type, id: narration.callId, isError: narration.isError };
    case "turn_finished":
      return { type: narration.type, message: messageOf(narration.reply, narration.stop) };
    case "run_finished":
      return narration.outcome === "aborted" ? { type: "aborted" } : undefined;
    default:
      return undefined;
  }
}
// #endregion

export function messageOf(item: Item | undefined, stop: Item["stop"]): AssistantMessage {
  const text = item?.parts.map((part) => (part.kind === "text" ? part.text : "")).join("") ?? "";
  return { text, stopReason: stopReasons[stop] ?? "error" };
}

const stopReasons: Readonly<Partial<Record<Item["stop"], AssistantMessage["stopReason"]>>> = {
  end: "endTurn",
  tools: "toolUse",
  aborted: "aborted",
};
