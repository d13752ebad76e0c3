import type { LogicalReply } from "../replies.ts";
import type { Random } from "../../../../../tests/kit/random.ts";

/** A reply as one vendor's bytes. Written from the vendors' documents, not from our decoders. */
export interface Encoded {
  readonly bytes: Uint8Array;
  readonly says: Says;
}

/** How much of a reply the bytes say: vendors differ, and so do the ways in which one may write it. */
export interface Says {
  /** The order of the parts. If not, all text is one and all reasoning is one. */
  readonly order: boolean;
  /** The argument text of calls to the letter. If not, its value. */
  readonly raw: boolean;
  /** The ids of calls. If not, they get some of their own. */
  readonly ids: boolean;
  /** Which calls are whole though the reply was cut short. If not, any of them may be refused. */
  readonly whole: boolean;
  readonly signatures: Readonly<Record<"text" | "reasoning" | "tool_call", boolean>>;
  readonly cacheWriteTokens: boolean;
  readonly reasoningTokens: boolean;
}

export type Encode = (reply: LogicalReply, random: Random) => Encoded;
