import type { Ending } from "../content/item.ts";
import type { Usage } from "../content/usage.ts";
import type { Delta } from "./delta.ts";

/**
 * What an agent yields that writes its items by itself: deltas, and between them the ends of items.
 * The deltas after a `commit_item` belong to the next item, whose part ids start anew.
 */
export type Update = Delta | CommitItem;

/** Ends an item. What stands in it is what the deltas before came to; this says how it ended. */
export type CommitItem = Ending & {
  readonly op: "commit_item";
  readonly usage?: Usage;
  /** Who wrote it, as `bridge/model`. */
  readonly model?: string;
};
