import type { LogicalReply } from "../replies.ts";
import type { Random } from "../../../../../tests/kit/random.ts";

/** A reply as one vendor's bytes. Based on the vendors' documents, not on our decoders. */
export interface Encoded {
  readonly bytes: Uint8Array;
  readonly preserved: Preserved;
}

/**
 * Which properties of a reply the bytes preserve. Vendors differ, and so do the variants of one.
 */
export interface Preserved {
  /** The order of the parts. If not, all text is joined and all reasoning is joined. */
  readonly order: boolean;
  /** The exact argument text of calls. If not, only its value. */
  readonly raw: boolean;
  /** The ids of calls. If not, the decoder assigns some. */
  readonly ids: boolean;
  /** Which calls are complete though the reply was cut. If not, any of them may be refused. */
  readonly whole: boolean;
  readonly signatures: Readonly<Record<"text" | "reasoning" | "tool_call", boolean>>;
  readonly cacheWriteTokens: boolean;
  readonly reasoningTokens: boolean;
}

export type Encode = (reply: LogicalReply, random: Random) => Encoded;
