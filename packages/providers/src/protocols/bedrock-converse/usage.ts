import type { JsonObject, Usage } from "@millrace/core";
import { countAt } from "../read.ts";

/**
 * Converts the vendor's counts, whose input excludes what was read from the cache and written to it.
 * An invalid count makes the whole usage unknown.
 */
export function usageOf(usage: JsonObject | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  const [input, output, read, written] = [
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheWriteInputTokens",
  ].map((key) => countAt(usage, key));
  if (typeof input !== "number" || typeof output !== "number") return undefined;
  if (read === "bad" || written === "bad") return undefined;
  const inputTokens = input + (read ?? 0) + (written ?? 0);
  if (!Number.isSafeInteger(inputTokens + output)) return undefined;
  return {
    inputTokens,
    outputTokens: output,
    cachedTokens: read ?? 0,
    ...(written === undefined ? {} : { cacheWriteTokens: written }),
  };
}
