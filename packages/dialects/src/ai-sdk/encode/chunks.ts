import type { Json } from "@millrace/core";

/** A chunk of the UI message stream: one JSON object of an event. Fields without a value are left out. */
export type Chunk =
  | { readonly type: "start"; readonly messageId: string }
  | { readonly type: "start-step" | "finish-step" | "reset-step" }
  | { readonly type: `${"text" | "reasoning"}-${"start" | "end"}`; readonly id: string }
  | {
      readonly type: `${"text" | "reasoning"}-delta`;
      readonly id: string;
      readonly delta: string;
    }
  | { readonly type: "tool-input-start"; readonly toolCallId: string; readonly toolName: string }
  | {
      readonly type: "tool-input-delta";
      readonly toolCallId: string;
      readonly inputTextDelta: string;
    }
  | {
      readonly type: "tool-input-available";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: Json;
    }
  | {
      readonly type: "tool-input-error";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: Json;
      readonly errorText: string;
    }
  | {
      readonly type: "tool-approval-request";
      readonly approvalId: string;
      readonly toolCallId: string;
    }
  | {
      readonly type: "tool-approval-response";
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | { readonly type: "tool-output-available"; readonly toolCallId: string; readonly output: Json }
  | { readonly type: "tool-output-error"; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  | { readonly type: "file"; readonly url: string; readonly mediaType: string }
  | {
      readonly type: "steering-message";
      readonly id: string;
      readonly parts: readonly UserPart[];
    }
  | DataChunk
  | {
      readonly type: "finish";
      readonly finishReason: FinishReason;
      readonly messageMetadata?: MessageMetadata;
    }
  | { readonly type: "abort" }
  | { readonly type: "error"; readonly errorText: string };

/** Content of an application's own. The same type and id replace what was there, but for a transient one. */
export interface DataChunk {
  readonly type: `data-${string}`;
  readonly id: string;
  readonly data: Json;
  readonly transient?: true;
}

/** Why a reply ended. `interrupted` is of 7 alone. */
export type FinishReason =
  | "stop"
  | "length"
  | "content-filter"
  | "tool-calls"
  | "error"
  | "interrupted"
  | "other";

/** What the message of a run that is over carries. Below one name: other fields are the application's. */
export interface MessageMetadata {
  readonly millrace: {
    readonly outcome: string;
    readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  };
}

/** What a person's message is made of. */
export type UserPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly url: string;
      readonly mediaType: string;
      readonly filename?: string;
    }
  | { readonly type: `data-${string}`; readonly data: Json };

/** A chunk as an event. */
export function eventOf(chunk: Chunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The last event of each stream. */
export const doneEvent = "data: [DONE]\n\n";
