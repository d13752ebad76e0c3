import type { JsonObject, Usage } from "@millrace/core";

/** True for usage with counts. The vendor also sends some that only names a tier. */
export function hasCounts(usage: JsonObject): boolean {
  return usage["promptTokenCount"] !== undefined || usage["totalTokenCount"] !== undefined;
}

/**
 * The vendor counts thoughts beside the answer, and what its own tools read beside the prompt; cached
 * tokens are among the prompt. A count that is left out is zero. One that is no count makes all of it
 * unknown.
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

/** NaN for what is no count. */
function countAt(usage: JsonObject, key: string): number {
  const count = usage[key] ?? 0;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0
    ? count
    : Number.NaN;
}
