import { isJsonObject } from "@millrace/core/wire";
import type { JsonObject, Usage } from "@millrace/core";
import { listAt, objectAt } from "../read.ts";
import { countAt } from "./events.ts";

/**
 * Counts as the vendor says them: tokens of the cache stand beside the input, not in it. They are
 * sums so far, so a smaller one is old, and null says nothing.
 */
export interface Counts {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
  readonly thinking: number | undefined;
  /** What summaries of the context used, which is in none of the above. */
  readonly compaction: Compaction | undefined;
  /** Something was said that is no count: then none of the others can be relied on. */
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
  thinking: undefined,
  compaction: undefined,
  bad: false,
};

/** Takes in a `usage` object. */
export function addCounts(counts: Counts, usage: JsonObject | undefined): Counts {
  if (usage === undefined) return counts;
  let bad = counts.bad;
  const most = (known: number | undefined, data: JsonObject, key: string): number | undefined => {
    const count = countAt(data, key);
    if (count === "bad") bad = true;
    return typeof count === "number" ? Math.max(count, known ?? 0) : known;
  };
  const details = objectAt(usage, "output_tokens_details") ?? {};
  const compaction = compactionOf(usage);
  if (compaction === "bad") bad = true;
  return {
    input: most(counts.input, usage, "input_tokens"),
    output: most(counts.output, usage, "output_tokens"),
    cacheRead: most(counts.cacheRead, usage, "cache_read_input_tokens"),
    cacheWrite: most(counts.cacheWrite, usage, "cache_creation_input_tokens"),
    thinking: most(counts.thinking, details, "thinking_tokens"),
    compaction: typeof compaction === "object" ? compaction : counts.compaction,
    bad,
  };
}

/** Iterations are listed whole each time. Only those of summaries are missing in the totals. */
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
 * What the reply used, by our rules. Summaries of the context are counted in: the same model wrote
 * them for the same price. Tokens of an advisor are not: another model's, and they stay in the evidence.
 */
export function usageOf(counts: Counts): Usage | undefined {
  const { input, output, cacheRead, cacheWrite, thinking, compaction, bad } = counts;
  if (bad || input === undefined || output === undefined) return undefined;
  const read = (cacheRead ?? 0) + (compaction?.cacheRead ?? 0);
  const written = (cacheWrite ?? 0) + (compaction?.cacheWrite ?? 0);
  const usage = {
    inputTokens: input + (compaction?.input ?? 0) + read + written,
    outputTokens: output + (compaction?.output ?? 0),
    cachedTokens: read,
    ...(cacheWrite === undefined && written === 0 ? {} : { cacheWriteTokens: written }),
    ...(thinking === undefined || thinking > output ? {} : { reasoningTokens: thinking }),
  };
  return Number.isSafeInteger(usage.inputTokens + usage.outputTokens) ? usage : undefined;
}
