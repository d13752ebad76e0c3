import type { Model, Usage } from "@millrace/core";

/** Prices in US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Input read from the cache. Default: `input`. */
  readonly cached?: number | undefined;
  /** Input written to the cache. Default: `input`. */
  readonly cacheWrite?: number | undefined;
  /** Input written to the cache for an hour or more. Default: `cacheWrite`. */
  readonly longCacheWrite?: number | undefined;
}

/** Prices of one tier of service. */
export interface TierPrice extends Price {
  /** The prices of the whole request if its input is longer than so many tokens. */
  readonly above?: (Price & { readonly inputTokens: number }) | undefined;
}

/** Prices of a model: those of the usual tier, and of others by the vendor's names of them. */
export interface ModelPrice extends TierPrice {
  /**
   * A reply of another tier costs what stands here, and an unknown sum if it does not. Left out: all
   * tiers cost the same.
   */
  readonly tiers?: Readonly<Record<string, TierPrice>> | undefined;
}

/** Names of the usual tier, by vendor. */
const usual: ReadonlySet<string> = new Set([
  "auto",
  "default",
  "on_demand",
  "standard",
  "standard_only",
]);

/**
 * Returns the usage of one request with its cost. A cost that the vendor reports is kept. It stays
 * unknown for a tier without a price, and for a long input where only the usual tier has prices for it.
 */
export function withCost(usage: Usage, price: ModelPrice | undefined, tier = "default"): Usage {
  if (price === undefined || usage.cost !== undefined) return usage;
  const named = usual.has(tier.toLowerCase()) || price.tiers === undefined;
  const ofTier = named ? price : price.tiers?.[tier.toLowerCase()];
  const isLong = (price.above?.inputTokens ?? Infinity) < usage.inputTokens;
  const charged = isLong ? ofTier?.above : ofTier;
  return charged === undefined ? usage : { ...usage, cost: costOf(usage, charged) };
}

/** What a token usually costs, for estimates: without the cache, in the usual tier. */
export function unitPrice({ input, output }: ModelPrice): Model["price"] {
  return { input, output };
}

function costOf(usage: Usage, price: Price): number {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage;
  const { input, output, cached = input, cacheWrite = input } = price;
  const { longCacheWrite = cacheWrite } = price;
  const long = Math.min(usage.longCacheWriteTokens ?? 0, cacheWriteTokens);
  const plain = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  const cost =
    plain * input +
    cachedTokens * cached +
    (cacheWriteTokens - long) * cacheWrite +
    long * longCacheWrite +
    outputTokens * output;
  return cost / 1e6;
}
