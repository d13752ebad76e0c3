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

/** The event that a piece of the story is, or nothing for what this program does not show. */
export function agentEvent(told: Narration): AgentEvent | undefined {
  switch (told.type) {
    case "assistant_text_delta":
      return { type: told.type, text: told.text };
    case "tool_call_started":
    case "tool_execution_started":
      return { type: told.type, id: told.callId, name: told.tool };
    case "tool_call_arguments_delta":
      return { type: told.type, id: told.callId, delta: told.text };
    case "tool_call_ready":
      return { type: told.type, id: told.callId, name: told.tool, input: told.input };
    case "tool_execution_update":
      return { type: told.type, id: told.callId, text: told.message };
    case "tool_execution_finished":
      return { type: told.type, id: told.callId, isError: told.isError };
    case "turn_finished":
      return { type: told.type, message: messageOf(told.reply, told.stop) };
    case "run_finished":
      return told.outcome === "aborted" ? { type: "aborted" } : undefined;
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
