import type { Usage } from "@millrace/core";

/** Prices in US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Input read from the cache. Default: `input`. */
  readonly cached?: number | undefined;
  /** Input written to the cache. Default: `input`. */
  readonly cacheWrite?: number | undefined;
}

/** Returns the usage with its cost. A cost that the vendor reports is kept. */
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
