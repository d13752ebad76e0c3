import type { Json, JsonObject } from "@millrace/core";

/** An event of AG-UI, as far as it is sent here. Fields without a value are left out, never null. */
export type AgUiEvent =
  | {
      readonly type: "RUN_STARTED";
      readonly threadId: string;
      readonly runId: string;
      readonly protocolVersion?: string;
      readonly parentRunId?: string;
    }
  | RunFinished
  | {
      readonly type: "RUN_ERROR";
      readonly message: string;
      readonly code: string;
      readonly usage?: readonly TokenUsage[];
    }
  | { readonly type: "STEP_STARTED" | "STEP_FINISHED"; readonly stepName: string }
  | {
      readonly type: "TEXT_MESSAGE_START";
      readonly messageId: string;
      readonly role: "assistant" | "user";
      readonly name?: string;
      readonly metadata?: JsonObject;
    }
  | {
      readonly type: "REASONING_MESSAGE_START";
      readonly messageId: string;
      readonly role: "reasoning";
    }
  | {
      readonly type: "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT";
      readonly messageId: string;
      readonly delta: string;
    }
  | {
      readonly type:
        | "TEXT_MESSAGE_END"
        | "REASONING_START"
        | "REASONING_MESSAGE_END"
        | "REASONING_END";
      readonly messageId: string;
    }
  | {
      readonly type: "TOOL_CALL_START";
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
      readonly metadata: JsonObject;
    }
  | { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
  | { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
  | {
      readonly type: "TOOL_CALL_RESULT";
      readonly messageId: string;
      readonly toolCallId: string;
      readonly role: "tool";
      readonly content: string;
      readonly metadata?: JsonObject;
    }
  | {
      readonly type: "ACTIVITY_SNAPSHOT";
      readonly messageId: string;
      readonly activityType: string;
      readonly content: JsonObject;
    }
  | MessagesSnapshot
  | {
      readonly type: "SUBAGENT_STARTED";
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentToolCallId: string;
    }
  | {
      readonly type: "SUBAGENT_FINISHED";
      readonly subagentRunId: string;
      readonly outcome?: { readonly type: "suspended" };
    }
  | { readonly type: "CUSTOM"; readonly name: string; readonly value: Json };

/** The end of a run for its reader: it is over, or it waits for an answer. */
export interface RunFinished {
  readonly type: "RUN_FINISHED";
  readonly threadId: string;
  readonly runId: string;
  readonly outcome?: RunOutcome;
  readonly usage?: readonly TokenUsage[];
  readonly metadata?: JsonObject;
}

/** `cancelled`, and the names of calls that wait, are of 1.0 alone: readers before it refuse them. */
export type RunOutcome =
  | { readonly type: "success"; readonly pendingToolCallIds?: readonly string[] }
  | { readonly type: "interrupt"; readonly interrupts: readonly Interrupt[] }
  | { readonly type: "cancelled" };

/** A question to a person. */
export interface Interrupt {
  readonly id: string;
  readonly reason: "tool_call";
  readonly message: string;
  readonly toolCallId: string;
  readonly responseSchema: JsonObject;
  readonly metadata: JsonObject;
}

/** What a run used. Cached and reasoning tokens are among the totals, as with us. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
  readonly reasoningTokens?: number;
}

/** All messages that the reader is to hold. Those of before are text already: most readers never need them. */
export interface MessagesSnapshot {
  readonly type: "MESSAGES_SNAPSHOT";
  readonly before: string;
  readonly messages: readonly AgUiMessage[];
  readonly after: string;
}

/** A message as clients hold it. Each part of a reply is a message of its own. */
export type AgUiMessage =
  | {
      readonly id: string;
      readonly role: "user";
      readonly content: string | readonly UserContent[];
      readonly name?: string;
      readonly metadata?: JsonObject;
    }
  | {
      readonly id: string;
      readonly role: "assistant";
      readonly content?: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | {
      readonly id: string;
      readonly role: "tool";
      readonly toolCallId: string;
      readonly content: string;
      readonly metadata?: JsonObject;
    }
  | { readonly id: string; readonly role: "reasoning"; readonly content: string }
  | {
      readonly id: string;
      readonly role: "activity";
      readonly activityType: string;
      readonly content: JsonObject;
    };

/** A call, with its arguments to the letter. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  readonly metadata: JsonObject;
}

/** What a person's message is made of, if it is not plain text. */
export type UserContent =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "audio" | "video" | "document";
      readonly source: {
        readonly type: "url" | "data";
        readonly value: string;
        readonly mimeType: string;
      };
      readonly metadata?: JsonObject;
    };

/** An event as a frame of server-sent events. */
export function frameOf(event: AgUiEvent): string {
  if (event.type !== "MESSAGES_SNAPSHOT") return `data: ${JSON.stringify(event)}\n\n`;
  const { before, messages, after } = event;
  const all = [before, jsonOf(messages), after].filter((text) => text !== "").join(",");
  return `data: {"type":"MESSAGES_SNAPSHOT","messages":[${all}]}\n\n`;
}

/** Messages as JSON, without the brackets of their list. */
export function jsonOf(messages: readonly unknown[]): string {
  return JSON.stringify(messages).slice(1, -1);
}
