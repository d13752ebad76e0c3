import { isJsonObject } from "@millrace/core/json";
import type { JsonObject, Usage } from "@millrace/core";
import { countAt, listAt, objectAt } from "../read.ts";

/**
 * Counts in the vendor's terms: cached tokens are not part of the input. Counts are cumulative, so
 * a smaller one is outdated, and null is ignored.
 */
export interface Counts {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  /** Of these, what is kept for an hour. */
  readonly longWrite: number | undefined;
  readonly thinking: number | undefined;
  /** Usage of context compaction, which the other counts exclude. */
  readonly compaction: Compaction | undefined;
  /** True after a value that is not a count. None of the counts is reliable then. */
  readonly bad: boolean;
}

interface Compaction {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const noCounts: Counts = {
  input: undefined,
  output: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  longWrite: undefined,
  thinking: undefined,
  compaction: undefined,
  bad: false,
};

/** Merges a `usage` object. */
export function addCounts(counts: Counts, usage: JsonObject | undefined): Counts {
  if (usage === undefined) return counts;
  let bad = counts.bad;
  const most = (known: number | undefined, data: JsonObject, key: string): number | undefined => {
    const count = countAt(data, key);
    if (count === "bad") bad = true;
    return typeof count === "number" ? Math.max(count, known ?? 0) : known;
  };
  const details = objectAt(usage, "output_tokens_details") ?? {};
  const kept = objectAt(usage, "cache_creation") ?? {};
  const compaction = compactionOf(usage);
  if (compaction === "bad") bad = true;
  return {
    input: most(counts.input, usage, "input_tokens"),
    output: most(counts.output, usage, "output_tokens"),
    cacheRead: most(counts.cacheRead, usage, "cache_read_input_tokens"),
    cacheWrite: most(counts.cacheWrite, usage, "cache_creation_input_tokens"),
    longWrite: most(counts.longWrite, kept, "ephemeral_1h_input_tokens"),
    thinking: most(counts.thinking, details, "thinking_tokens"),
    compaction: typeof compaction === "object" ? compaction : counts.compaction,
    bad,
  };
}

/** Every event lists all iterations. The totals include all but compaction. */
function compactionOf(usage: JsonObject): Compaction | "bad" | undefined {
  const rows = listAt(usage, "iterations")
    .filter(isJsonObject)
    .filter((row) => row["type"] === "compaction");
  if (rows.length === 0) return undefined;
  let bad = false;
  const sum = (key: string): number =>
    rows.reduce((total, row) => {
      const count = countAt(row, key);
      if (count === "bad") bad = true;
      return total + (typeof count === "number" ? count : 0);
    }, 0);
  const total = {
    input: sum("input_tokens"),
    output: sum("output_tokens"),
    cacheRead: sum("cache_read_input_tokens"),
    cacheWrite: sum("cache_creation_input_tokens"),
  };
  return bad ? "bad" : total;
}

/**
 * The usage in Millrace's terms. Includes compaction: the same model at the same price. Excludes
 * tokens of an advisor, which is another model; they stay in the evidence.
 */
export function usageOf(counts: Counts): Usage | undefined {
  const { input, output, cacheRead, cacheWrite, longWrite, thinking, compaction, bad } = counts;
  if (bad || input === undefined || output === undefined) return undefined;
  const read = (cacheRead ?? 0) + (compaction?.cacheRead ?? 0);
  const written = (cacheWrite ?? 0) + (compaction?.cacheWrite ?? 0);
  const usage = {
    inputTokens: input + (compaction?.input ?? 0) + read + written,
    outputTokens: output + (compaction?.output ?? 0),
    cachedTokens: read,
    ...(cacheWrite === undefined && written === 0 ? {} : { cacheWriteTokens: written }),
    ...(longWrite ? { longCacheWriteTokens: Math.min(longWrite, written) } : {}),
    ...(thinking === undefined || thinking > output ? {} : { reasoningTokens: thinking }),
  };
  return Number.isSafeInteger(usage.inputTokens + usage.outputTokens) ? usage : undefined;
}
