import type { JsonObject } from "@millrace/core";
import { objectAt } from "../read.ts";

/**
 * Output tokens by model: the most that the vendor documents, and what is asked for by default if that is
 * less. The first pattern that matches counts. A request for more than the most is refused; one
 * for less may cut the answer, and thinking counts too. The limit costs nothing until it is
 * used, and rate limits count only what is written. Names are those of the vendor and of gateways, such as
 * `anthropic/claude-sonnet-4.5`. From https://platform.claude.com/docs/en/about-claude/models/overview.
 */
const limits: readonly (readonly [model: RegExp, most: number, usual?: number])[] = [
  [/claude-(?:instant|v?[12])(?!\d)/, 4_096],
  // Up to 4.1 the vendor refuses a request whose input and limit exceed the context together. Half of the
  // most leaves room for input.
  [/claude-3[-.]7(?!\d)/, 64_000, 32_000],
  [/claude-3[-.]5(?!\d)/, 8_192],
  [/claude-3(?!\d)/, 4_096],
  [/claude-opus-4(?![-.][2-9](?!\d))(?!\d)/, 32_000],
  [/claude-sonnet-4(?![-.][2-9](?!\d))(?!\d)/, 64_000, 32_000],
  [/claude-(?:haiku|opus|sonnet)-4[-.]5(?!\d)/, 64_000],
  [/claude-(?:opus|sonnet)-4[-.][6-9](?!\d)/, 128_000],
  [/claude-(?:fable|haiku|opus|sonnet)-5(?!\d)/, 128_000],
  // A later model. No model since 4.5 has less.
  [/claude-/, 64_000],
  // Another vendor's model behind this API. Its limit is unknown, and some have no more.
  [/(?:)/, Infinity, 8_192],
];

/** The token limit of a request whose settings have none: the usual one and the budget for thinking. */
export function defaultMaxTokens(settings: JsonObject, model: string): number {
  const found = limits.find(([pattern]) => pattern.test(model));
  const [, most, usual = most] = found ?? [undefined, Infinity, 8_192];
  const budget = objectAt(settings, "thinking")?.["budget_tokens"];
  return Math.min(most, usual + (typeof budget === "number" ? budget : 0));
}
