import type { Usage } from "@millrace/core";
import type { SegmentEnd } from "./response-json.ts";

/** Why a completion ended. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** A piece of a completion's message. */
export interface CompletionDelta {
  readonly role?: "assistant";
  readonly content?: string;
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly type?: "function";
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

/** A chunk of a completion's stream. */
export interface CompletionChunk extends CompletionHead<"chat.completion.chunk"> {
  readonly choices: readonly {
    readonly index: 0;
    readonly delta: CompletionDelta;
    readonly logprobs: null;
    readonly finish_reason: FinishReason | null;
  }[];
  /** Null on all chunks but the last, if it was asked for. */
  readonly usage?: CompletionUsage | null;
}

/** What a completion and its chunks have in common. */
export interface CompletionHead<Kind> {
  readonly id: string;
  readonly object: Kind;
  readonly created: number;
  readonly model: string;
}

/** A completion that is over. */
export interface CompletionJson extends CompletionHead<"chat.completion"> {
  readonly choices: readonly {
    readonly index: 0;
    readonly message: CompletionMessage;
    readonly logprobs: null;
    readonly finish_reason: FinishReason;
  }[];
  readonly usage: CompletionUsage;
}

export interface CompletionMessage {
  role: "assistant";
  content: string | null;
  refusal: string | null;
  reasoning_content?: string;
  tool_calls?: {
    id: string;
    type: "function";
    function: { name: string; arguments: string };
  }[];
}

export interface CompletionUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

/** What was used, as a completion says it. */
export function completionUsage(usage: Usage): CompletionUsage {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens = 0 } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/** The reason for the end of a segment. One that was stopped is as good as one that ended. */
export function finishReason(
  { incomplete_details: details }: SegmentEnd,
  calls: number,
): FinishReason {
  if (calls > 0) return "tool_calls";
  if (details?.reason === "content_filter") return "content_filter";
  return details === null ? "stop" : "length";
}

/** Adds a piece to a message, as a client does. */
export function addDelta(message: CompletionMessage, delta: CompletionDelta): void {
  const { content, refusal, reasoning_content: reasoning, tool_calls: calls = [] } = delta;
  if (content !== undefined) message.content = (message.content ?? "") + content;
  if (refusal !== undefined) message.refusal = (message.refusal ?? "") + refusal;
  if (reasoning !== undefined)
    message.reasoning_content = (message.reasoning_content ?? "") + reasoning;
  for (const { index, id, function: called } of calls) {
    const known = (message.tool_calls ??= []);
    if (id !== undefined)
      known[index] = { id, type: "function", function: { name: called.name ?? "", arguments: "" } };
    const call = known[index];
    if (call !== undefined) call.function.arguments += called.arguments;
  }
}
