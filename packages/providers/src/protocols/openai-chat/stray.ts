import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { listOf, objectOf, textOf } from "./events.ts";
import type { OpenaiChatState } from "./state.ts";

/**
 * Text of a reply whose choice has another index in each chunk: old versions of TGI count tokens by it
 * (huggingface/text-generation-inference#1648). Read at `[DONE]` only, because the first chunks of a
 * second choice look the same until choice 0 comes.
 */
export interface Stray {
  /** The index that the next chunk has to have. */
  readonly next: number;
  readonly text: string;
  readonly reason: string;
}

/** The longest such text, in UTF-16 units. */
const longest = 1024 * 1024;

/** Keeps the text of a chunk without choice 0, as long as its one index rises by one. */
export function withStray(state: OpenaiChatState, data: JsonObject): OpenaiChatState {
  const { stray } = state;
  const choices = listOf(data["choices"]);
  const [choice] = choices;
  if (stray === "none" || !isJsonObject(choice)) return state;
  const { next, text } = stray ?? { next: 1, text: "" };
  const isNext = choices.length === 1 && choice["index"] === next && state.parts === 0;
  if (!isNext || text.length > longest) return { ...state, stray: "none" };
  const more = text + textOf(objectOf(choice["delta"])?.["content"]);
  return {
    ...state,
    stray: { next: next + 1, text: more, reason: textOf(choice["finish_reason"]) },
  };
}

/** The chunk that the reply would have been, if no chunk had choice 0. */
export function strayChunk({ stray, parts, finish }: OpenaiChatState): JsonObject | undefined {
  if (stray === undefined || stray === "none" || parts > 0 || finish !== undefined)
    return undefined;
  const { text: content, reason } = stray;
  return { choices: [{ index: 0, delta: { content }, finish_reason: reason }] };
}
