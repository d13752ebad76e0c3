import type { JsonObject, Usage } from "@millrace/core";

/** True for usage with counts. The vendor also sends usage that only names a tier. */
export function hasCounts(usage: JsonObject): boolean {
  return usage["promptTokenCount"] !== undefined || usage["totalTokenCount"] !== undefined;
}

/**
 * Converts the vendor's counts. Thoughts are added to the output, and input of the vendor's tools
 * to the input; cached tokens are already part of the prompt. A missing count is zero. An invalid
 * one makes the whole usage unknown.
 */
export function usageOf(usage: JsonObject | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  const prompt = countAt(usage, "promptTokenCount");
  const tools = countAt(usage, "toolUsePromptTokenCount");
  const cached = countAt(usage, "cachedContentTokenCount");
  const answer = countAt(usage, "candidatesTokenCount");
  const thoughts = countAt(usage, "thoughtsTokenCount");
  const inputTokens = prompt + tools;
  const outputTokens = answer + thoughts;
  if (!Number.isSafeInteger(inputTokens + outputTokens) || !(cached <= inputTokens))
    return undefined;
  return {
    inputTokens,
    outputTokens,
    cachedTokens: cached,
    ...(usage["thoughtsTokenCount"] === undefined ? {} : { reasoningTokens: thoughts }),
  };
}

/** A count, or NaN for an invalid value. */
function countAt(usage: JsonObject, key: string): number {
  const count = usage[key] ?? 0;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0
    ? count
    : Number.NaN;
}
