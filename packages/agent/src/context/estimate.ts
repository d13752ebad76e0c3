import type { Item, Part } from "@millrace/core";
import { utf8Length } from "../text-bytes.ts";
import { resultText } from "./outputs.ts";

/** Roughly, for the tokenizers of today and text of most sorts. */
export const bytesPerToken = 4;
/** Pictures cost by their size on the screen, which is not known here. */
const mediaTokens = 1_500;

/** Roughly how many tokens a model would read. Linear; for comparing, not for billing. */
export function estimateTokens(items: readonly Item[]): number {
  let tokens = 0;
  for (const { parts } of items) for (const part of parts) tokens += tokensOf(part);
  return Math.ceil(tokens);
}

function tokensOf(part: Part): number {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return utf8Length(part.text) / bytesPerToken;
    case "tool_call":
      return (utf8Length(part.tool) + utf8Length(part.raw)) / bytesPerToken;
    case "tool_result":
      return utf8Length(resultText(part)) / bytesPerToken;
    case "media":
    case "file":
      return mediaTokens;
    case "structured":
    case "custom":
      return utf8Length(JSON.stringify(part.value)) / bytesPerToken;
    case "opaque":
      return 0;
    default:
      part satisfies never;
      return 0;
  }
}
