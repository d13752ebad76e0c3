/**
 * What one or more attempts used. Every count is part of the total above it, never beside it:
 * cached tokens are among the input tokens, reasoning tokens among the output tokens.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input read from the vendor's cache. */
  readonly cachedTokens: number;
  /** Input written to the vendor's cache. */
  readonly cacheWriteTokens?: number;
  /** Of these, what the vendor keeps for an hour or more, which costs more. */
  readonly longCacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** In US dollars; left out when the price is not known. */
  readonly cost?: number;
}

/** Nothing was used: where sums begin. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

/** The sum. A cost is known only if both are, or if one of them used nothing. */
export function addUsage(left: Usage, right: Usage): Usage {
  if (isNothing(left)) return right;
  if (isNothing(right)) return left;
  const sum: Usage & Record<string, number> = { ...left };
  for (const [key, amount] of Object.entries<number>({ ...right }))
    sum[key] = (sum[key] ?? 0) + amount;
  if (left.cost !== undefined && right.cost !== undefined) return sum;
  const { cost: _, ...unpriced } = sum;
  return unpriced;
}

function isNothing(usage: Usage): boolean {
  return usage.inputTokens === 0 && usage.outputTokens === 0 && (usage.cost ?? 0) === 0;
}
