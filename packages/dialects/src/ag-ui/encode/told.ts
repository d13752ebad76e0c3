import type { Json, ViewItem } from "@millrace/core";
import type { ToldAttempt } from "../../shared/encode/shown-items.ts";
import type { AgUiEvent } from "./events.ts";
import { callMetadata } from "./messages.ts";

/** What a reader was sent of an item of the run. */
export interface ToldItem extends ToldAttempt {
  readonly parts: ToldPart[];
  /** The item when it was sent: what is the same is not looked at again. */
  view: ViewItem | undefined;
}

/** What a reader was sent of a part. */
export interface ToldPart {
  readonly id: string;
  readonly kind: string;
  /** Characters that were sent. */
  sent: number;
  isDone: boolean;
  value?: Json | undefined;
  call?: ToldCall | undefined;
}

/** What a reader was sent of a call. */
export interface ToldCall {
  readonly callId: string;
  readonly toolName: string;
  /** What it came to. */
  outcome: string | undefined;
  /** What the tool reported while it ran. */
  message: string | undefined;
  sent: number;
}

/** An item of which nothing was sent. */
export function untold(id: string): ToldItem {
  return { id, epoch: undefined, isLive: false, n: undefined, parts: [], view: undefined };
}

/** A call of which nothing was sent but its name. */
export function untoldCall(callId: string, toolName: string): ToldCall {
  return { callId, toolName, outcome: undefined, message: undefined, sent: 0 };
}

/** The events that begin a part of text, or take up one that the reader holds the beginning of. */
export function opening({ kind, call }: ToldPart, messageId: string): readonly AgUiEvent[] {
  if (call !== undefined) {
    const named = {
      toolCallId: messageId,
      toolCallName: call.toolName,
      parentMessageId: messageId,
    };
    return [{ type: "TOOL_CALL_START", ...named, metadata: callMetadata(call.callId) }];
  }
  return kind === "reasoning"
    ? [
        { type: "REASONING_START", messageId },
        { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
      ]
    : [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
}

/** More text of a part. */
export function more({ kind, call }: ToldPart, messageId: string, delta: string): AgUiEvent {
  if (call !== undefined) return { type: "TOOL_CALL_ARGS", toolCallId: messageId, delta };
  const type = kind === "reasoning" ? "REASONING_MESSAGE_CONTENT" : "TEXT_MESSAGE_CONTENT";
  return { type, messageId, delta };
}

/** The events that end a part of text. */
export function closing({ kind, call }: ToldPart, messageId: string): readonly AgUiEvent[] {
  if (call !== undefined) return [{ type: "TOOL_CALL_END", toolCallId: messageId }];
  return kind === "reasoning"
    ? [
        { type: "REASONING_MESSAGE_END", messageId },
        { type: "REASONING_END", messageId },
      ]
    : [{ type: "TEXT_MESSAGE_END", messageId }];
}
