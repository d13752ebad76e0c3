import type { ItemId } from "../ids.ts";
import type { Json, Metadata } from "../json.ts";
import type { Part } from "./part.ts";
import type { Usage } from "./usage.ts";

/** Ordered parts by one author. Durable: an item exists only once it is committed. */
export type Item = Ending & ItemContent;

/** An item without its ending. */
export interface ItemContent {
  readonly id: ItemId;
  readonly author: Author;
  readonly parts: readonly Part[];
  readonly usage?: Usage;
  /** The model that wrote it, as `protocol/model`. Opaque data goes back to that protocol only. */
  readonly model?: string;
  readonly metadata?: Metadata;
}

/** `agent` is code that writes items by itself; `tool` is the answer to a call. */
export type Author = "user" | "model" | "tool" | "agent";

/**
 * Why an item ended. The first five rest on the vendor's own stop reason, kept as evidence; the last
 * three are cut short, and name the cause. The end of bytes is never evidence of completion.
 */
export type Ending =
  | { readonly stop: WholeStop; readonly evidence?: Json; readonly cause?: never }
  | { readonly stop: CutStop; readonly cause: Cause; readonly evidence?: never };

/** Why a whole reply ended. `paused`: the vendor stopped for now and expects a request to go on. */
export type WholeStop = "end" | "tools" | "length" | "filtered" | "paused";
/** Why an item was cut short. What came before is kept. */
export type CutStop = "aborted" | "truncated" | "failed";
/** Why an item ended: by itself (`WholeStop`), or cut short (`CutStop`). */
export type StopReason = WholeStop | CutStop;

/** What cut an item short. Codes are snake case; the message is for people. */
export interface Cause {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
  /** The vendor's own words, as far as they are data. */
  readonly evidence?: Json;
}

export function isCutStop(stop: StopReason): stop is CutStop {
  return stop === "aborted" || stop === "truncated" || stop === "failed";
}
