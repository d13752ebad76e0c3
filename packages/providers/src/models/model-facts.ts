import type { ModelPrice } from "../price.ts";

/** What a vendor publishes of a model. What is left out is not known. */
export interface ModelFacts {
  /** Who serves and bills it: `anthropic`, `bedrock`, `openai`, … */
  readonly vendor: string;
  /** The vendor's name of it, without a date. */
  readonly model: string;
  /** The most tokens of input, what is cached included. */
  readonly window?: number | undefined;
  /** The most tokens of one reply, reasoning included. */
  readonly maxOutput?: number | undefined;
  readonly price?: ModelPrice | undefined;
}
