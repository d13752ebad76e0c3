import type { JsonObject, Usage } from "@millrace/core";
import { objectAt } from "../read.ts";
import { countField } from "./events.ts";

/**
 * Converts the vendor's counts. Its input includes cached and written tokens, and its output
 * includes reasoning, as in Millrace. An invalid count makes the whole usage unknown: a partial
 * bill is a wrong bill.
 */
export function readUsage(response: JsonObject): Usage | undefined {
  const usage = objectAt(response, "usage");
  const inputTokens = countField(usage, "input_tokens");
  let outputTokens = countField(usage, "output_tokens");
  if (usage === undefined || inputTokens === undefined || outputTokens === undefined) {
    return undefined;
  }
  const input = objectAt(usage, "input_tokens_details");
  const cachedTokens = detail(input, "cached_tokens");
  const cacheWriteTokens = detail(input, "cache_write_tokens");
  const reasoningTokens = detail(objectAt(usage, "output_tokens_details"), "reasoning_tokens");
  if (Number.isNaN((cachedTokens ?? 0) + (cacheWriteTokens ?? 0) + (reasoningTokens ?? 0))) {
    return undefined;
  }
  // Some imitators count reasoning separately. Their total shows it.
  const beside = inputTokens + outputTokens + (reasoningTokens ?? 0);
  if (reasoningTokens && countField(usage, "total_tokens") === beside) {
    outputTokens += reasoningTokens;
  }
  if ((cachedTokens ?? 0) + (cacheWriteTokens ?? 0) > inputTokens) return undefined;
  if ((reasoningTokens ?? 0) > outputTokens) return undefined;
  const cost = usage["cost"];
  return {
    inputTokens,
    outputTokens,
    cachedTokens: cachedTokens ?? 0,
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(typeof cost === "number" && cost >= 0 ? { cost } : {}),
  };
}

/** The count, undefined if there is none, or NaN for an invalid value. */
function detail(from: JsonObject | undefined, key: string): number | undefined {
  const value = from?.[key];
  return value === undefined || value === null ? undefined : (countField(from, key) ?? Number.NaN);
}
