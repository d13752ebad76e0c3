import type { SentPart } from "../../shared/encode/sent-items.ts";
import type { AgUiEvent } from "./events.ts";
import { callMetadata } from "./messages.ts";

/** The events that begin a part of text, or go on with one that the reader holds the beginning of. */
export function beginEvents({ kind, call }: SentPart, messageId: string): readonly AgUiEvent[] {
  if (call !== undefined) {
    const named = {
      toolCallId: messageId,
      toolCallName: call.tool,
      parentMessageId: messageId,
    };
    return [{ type: "TOOL_CALL_START", ...named, metadata: callMetadata(call.id) }];
  }
  return kind === "reasoning"
    ? [
        { type: "REASONING_START", messageId },
        { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
      ]
    : [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
}

/** More text of a part. */
export function deltaEvent({ kind, call }: SentPart, messageId: string, delta: string): AgUiEvent {
  if (call !== undefined) return { type: "TOOL_CALL_ARGS", toolCallId: messageId, delta };
  const type = kind === "reasoning" ? "REASONING_MESSAGE_CONTENT" : "TEXT_MESSAGE_CONTENT";
  return { type, messageId, delta };
}

/** The events that end a part of text. */
export function endEvents({ kind, call }: SentPart, messageId: string): readonly AgUiEvent[] {
  if (call !== undefined) return [{ type: "TOOL_CALL_END", toolCallId: messageId }];
  return kind === "reasoning"
    ? [
        { type: "REASONING_MESSAGE_END", messageId },
        { type: "REASONING_END", messageId },
      ]
    : [{ type: "TEXT_MESSAGE_END", messageId }];
}
