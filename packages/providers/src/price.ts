import type { Usage } from "@millrace/core";

/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Input that was read from the cache; left out: as `input`. */
  readonly cached?: number | undefined;
  /** Input that was written to the cache; left out: as `input`. */
  readonly cacheWrite?: number | undefined;
}

/** The usage with its cost. What the vendor itself says it costs stands. */
export function withCost(usage: Usage, price: Price | undefined): Usage {
  if (price === undefined || usage.cost !== undefined) return usage;
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage;
  const plain = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  const cost =
    plain * price.input +
    cachedTokens * (price.cached ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    outputTokens * price.output;
  return { ...usage, cost: cost / 1e6 };
}
