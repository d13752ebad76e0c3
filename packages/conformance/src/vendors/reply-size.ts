import { tokensOf } from "./json.ts";
import type { PlainReply } from "./vendor.ts";

/** The tokens of a scripted reply. */
export interface ReplySize {
  readonly thinking: number;
  /** Text and calls. */
  readonly written: number;
}

/** The tokens of thinking whose text is withheld. */
const withheld = 50;

/** The tokens of thinking. */
export function thinkingTokens(think: string | true | undefined): number {
  return think === true ? withheld : tokensOf(think ?? "");
}

/** Counts a reply. Even an empty one has a token for its end. */
export function replySize({ think, text = "", calls = [] }: PlainReply): ReplySize {
  const inputs = calls.map(({ input }) => JSON.stringify(input)).join("");
  return { thinking: thinkingTokens(think), written: 1 + tokensOf(text + inputs) };
}
