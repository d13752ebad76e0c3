import type { Fact, Json, JsonObject, SessionState, Usage } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { SegmentClock } from "./segment-clock.ts";
import { segmentOf, nameOf, responsePrefix } from "./response-id.ts";
import type { OutputItem } from "./response-items.ts";
import type { FollowedSegment } from "./run-event-builder.ts";

/** The name under which the agent is a model. It has its own model and instructions: a request chooses neither. */
export const modelName = "agent";

/** The field of a part's metadata in which a prompt keeps the other fields of its request. */
export const requestField = "openai";

/** A response as both its `GET` and the events of its stream have it. */
export interface ResponseJson {
  readonly id: string;
  readonly object: "response";
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
  readonly background: boolean;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly instructions: null;
  readonly max_output_tokens: null;
  readonly model: string;
  readonly output: readonly OutputItem[];
  readonly parallel_tool_calls: true;
  readonly previous_response_id: string | null;
  readonly conversation: { readonly id: string };
  readonly store: true;
  readonly temperature: null;
  readonly text: { readonly format: JsonObject };
  readonly tool_choice: "auto";
  readonly tools: readonly [];
  readonly top_p: null;
  readonly truncation: "disabled";
  readonly usage: ResponseUsage | null;
  readonly metadata: JsonObject;
}

interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: {
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
  };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

/** How a segment ended. */
export type SegmentEnd = Pick<ResponseJson, "status" | "error" | "incomplete_details">;

/** What of a response stands from its beginning. */
export class ResponseHead {
  readonly id: string;
  readonly #segment: FollowedSegment;
  readonly #clock: SegmentClock;
  #request: JsonObject = {};

  constructor(segment: FollowedSegment) {
    this.#segment = segment;
    this.#clock = new SegmentClock(segment);
    const { sessionId, runId, from } = segment;
    this.id = nameOf(responsePrefix, { sessionId, runId, from });
  }

  /** Notes what the next fact says beside its output. */
  note(fact: Fact): void {
    this.#clock.note(fact);
    if (fact.type !== "input_accepted" || fact.input.kind !== "prompt") return;
    if (fact.n === this.#segment.head + 1) this.#request = requestOf(fact.input.parts[0]);
  }

  /** How the segment ended, by the state after its last fact. */
  end(state: SessionState): SegmentEnd {
    return this.#clock.end(state);
  }

  /** The response as it is, with so much output. */
  json(end: SegmentEnd, output: readonly OutputItem[]): ResponseJson {
    const { sessionId } = this.#segment;
    const isEnded = end.status !== "queued" && end.status !== "in_progress";
    const { metadata, background, format } = this.#request;
    return {
      id: this.id,
      object: "response",
      created_at: this.#clock.created,
      completed_at: isEnded ? (this.#clock.last ?? null) : null,
      background: background === true,
      ...end,
      instructions: null,
      max_output_tokens: null,
      model: modelName,
      output,
      parallel_tool_calls: true,
      previous_response_id: this.#previous(),
      conversation: { id: sessionId },
      store: true,
      temperature: null,
      text: { format: isJsonObject(format) ? format : { type: "text" } },
      tool_choice: "auto",
      tools: [],
      top_p: null,
      truncation: "disabled",
      usage: isEnded ? usageOf(this.#clock.usage) : null,
      metadata: isJsonObject(metadata) ? metadata : {},
    };
  }

  #previous(): string | null {
    const { before } = this.#segment;
    if (before !== undefined) {
      const { sessionId, runId } = this.#segment;
      return nameOf(responsePrefix, { sessionId, runId, from: before });
    }
    const { previous } = this.#request;
    return typeof previous === "string" && segmentOf(responsePrefix, previous) ? previous : null;
  }
}

function requestOf(
  part: { readonly metadata?: Readonly<Record<string, Json>> } | object | undefined,
): JsonObject {
  const metadata = part !== undefined && "metadata" in part ? part.metadata : undefined;
  const request = metadata?.[requestField];
  return isJsonObject(request) ? request : {};
}

function usageOf(usage: Usage): ResponseUsage {
  const {
    inputTokens,
    outputTokens,
    cachedTokens,
    cacheWriteTokens = 0,
    reasoningTokens = 0,
  } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
