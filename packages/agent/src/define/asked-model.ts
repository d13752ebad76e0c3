import { noUsage } from "@millrace/core/writing";
import type { Model, Usage } from "@millrace/core";
import type { AskedModel } from "../definition/loop-settings.ts";

type PriceOf = (usage: Usage, model: string) => number | undefined;

/** A price function may round, and may charge long requests more, so it is asked about so many tokens. */
const sampleTokens = 1_000;

/** A model as the loop's decisions need it: with the agent's price, if the model has none of its own. */
export function askedModel({ id, price }: Model, priceOf: PriceOf | undefined): AskedModel {
  const unit = price ?? (priceOf === undefined ? undefined : unitPrice(id, priceOf));
  return { id, ...(unit === undefined ? {} : { price: unit }) };
}

/** Undefined if the function throws or returns no number: the price is then unknown. */
function unitPrice(id: string, priceOf: PriceOf): Model["price"] {
  const perMillion = (usage: Partial<Usage>): number =>
    ((priceOf({ ...noUsage, ...usage }, id) ?? Number.NaN) * 1_000_000) / sampleTokens;
  try {
    const input = perMillion({ inputTokens: sampleTokens });
    const output = perMillion({ outputTokens: sampleTokens });
    return Number.isFinite(input) && Number.isFinite(output) ? { input, output } : undefined;
  } catch {
    return undefined;
  }
}
