import { isJsonObject } from "@millrace/core/json";
import type { Json, Usage } from "@millrace/core";
import { objectOf } from "./events.ts";

/** Converts the vendor's counts. Returns undefined if they are invalid. */
export function usageOf(usage: Json | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const prompt = countOf(usage["prompt_tokens"]);
  const completion = countOf(usage["completion_tokens"]);
  if (prompt === undefined || completion === undefined) return undefined;
  const read = objectOf(usage["prompt_tokens_details"]);
  const written = objectOf(usage["completion_tokens_details"]);
  const cached = firstCount([
    read?.["cached_tokens"],
    usage["prompt_cache_hit_tokens"],
    usage["cached_tokens"],
  ]);
  const cacheWrite = firstCount([read?.["cache_write_tokens"], read?.["cache_creation_tokens"]]);
  const reasoning = firstCount([written?.["reasoning_tokens"], usage["reasoning_tokens"]]);
  const total = countOf(usage["total_tokens"]);
  const cost = costOf(usage["cost"]) ?? ticksOf(usage["cost_in_usd_ticks"]);
  // A detail larger than its total can't be part of it: those servers count it separately.
  const beside = (cached ?? 0) + (cacheWrite ?? 0);
  return {
    inputTokens: beside > prompt ? prompt + beside : prompt,
    outputTokens: completion + hiddenOutput({ prompt, completion, total, reasoning }),
    cachedTokens: cached ?? 0,
    ...(cacheWrite === undefined ? {} : { cacheWriteTokens: cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    ...(cost === undefined ? {} : { cost }),
  };
}

/**
 * Reasoning that some servers (xAI, Gemini) exclude from the completion and include in the total.
 */
function hiddenOutput(counts: {
  readonly prompt: number;
  readonly completion: number;
  readonly total: number | undefined;
  readonly reasoning: number | undefined;
}): number {
  const { prompt, completion, total, reasoning = 0 } = counts;
  if (reasoning > completion) return reasoning;
  const surplus = (total ?? 0) - prompt - completion;
  return surplus > 0 && (reasoning === 0 || reasoning === surplus) ? surplus : 0;
}

function countOf(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

function firstCount(values: readonly (Json | undefined)[]): number | undefined {
  for (const value of values) {
    const count = countOf(value);
    if (count !== undefined) return count;
  }
  return undefined;
}

/** A number (OpenRouter) or an object with a total (Perplexity), both in US dollars. */
function costOf(value: Json | undefined): number | undefined {
  const cost = objectOf(value)?.["total_cost"] ?? value;
  return typeof cost === "number" && Number.isFinite(cost) && cost >= 0 ? cost : undefined;
}

/** xAI counts in ticks, of which a US dollar has 10^10. */
function ticksOf(value: Json | undefined): number | undefined {
  const ticks = countOf(value);
  return ticks === undefined ? undefined : ticks / 1e10;
}
