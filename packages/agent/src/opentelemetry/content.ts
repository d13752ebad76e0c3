import { returnedBy } from "@millrace/core/reading";
import type { Item, Json, Part } from "@millrace/core";

/** Items in the form that the conventions give to messages, as JSON. Bytes are left out. */
export function messagesOf(items: readonly Item[]): string {
  return JSON.stringify(
    items.map(({ author, parts }) => ({ role: roles[author], parts: parts.map(partOf) })),
  );
}

const roles: Readonly<Record<Item["author"], string>> = {
  user: "user",
  model: "assistant",
  agent: "assistant",
  tool: "tool",
};

function partOf(part: Part): Json {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return { type: part.kind, content: part.text };
    case "tool_call":
      return {
        type: "tool_call",
        id: part.callId,
        name: part.tool,
        arguments: part.input ?? part.raw,
      };
    case "tool_result":
      return { type: "tool_call_response", id: part.callId, response: returnedBy(part) };
    case "structured":
    case "custom":
      return { type: part.kind, content: part.value };
    case "media":
    case "file":
      return { type: part.kind, mime_type: part.mediaType };
    case "opaque":
      return { type: "opaque" };
    default:
      part satisfies never;
      return null;
  }
}
