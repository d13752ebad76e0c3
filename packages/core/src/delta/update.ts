import type { Ending } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import type { Usage } from "../content/usage.ts";
import type { Metadata } from "../json.ts";
import type { Delta } from "./delta.ts";

/**
 * What an agent yields that writes its items by itself: deltas, and between them the ends of items.
 * The deltas after a `commit_item` belong to the next item, whose part ids start anew.
 *
 * Beginnings and endings may be left out. An append to a part that was not begun begins it: text for
 * `append_text` and `set_metadata`, structured for `replace_structured`. Bytes need a `begin_part`,
 * which has their media type. Parts that are open when their item ends are committed with it.
 */
export type Update = Delta | CommitItem | ReplaceItem;

/** Ends an item. What stands in it is what the deltas before came to; this says how it ended. */
export type CommitItem = Ending & {
  readonly op: "commit_item";
  readonly usage?: Usage;
  /** Who wrote it, as `bridge/model`. */
  readonly model?: string;
};

/**
 * Stores an item at once, with this content in place of what was streamed, or without any deltas
 * before it. The item is complete then, and what still comes for it is ignored: deltas and parts that
 * have the id of a part of it, another text as a whole, and one `commit_item`. An update that names
 * none of its parts begins the next item.
 */
export interface ReplaceItem {
  readonly op: "replace_item";
  /** A text, or all parts. A text takes the place of the first text that was streamed, and has its id. */
  readonly content: string | readonly Part[];
  /** Stored with the text, or with the item if there are parts. Left out: that of the streamed text. */
  readonly metadata?: Metadata;
  readonly usage?: Usage;
  /** Who wrote it, as `bridge/model`. */
  readonly model?: string;
}
