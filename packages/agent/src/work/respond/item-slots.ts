import type { Item, RunId, TurnId } from "@millrace/core";
import type { Epochs, WorkHost } from "../host.ts";
import { writtenItemIdOf } from "../../loop/ids.ts";

export interface Responding {
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly signal: AbortSignal;
}

/** Assigns a reserved id and a free lane to each item of one `respond` call, in the order of `take`. */
export interface ItemSlots {
  readonly host: WorkHost;
  readonly epochs: Epochs;
  readonly at: Responding;
  readonly take: () => { readonly itemId: Item["id"]; readonly lane: number };
  /** Frees the lane and adds the stored item to the transcript of the call. */
  readonly done: (lane: number, item: Item) => void;
}

export function itemSlotsOf(
  host: WorkHost,
  epochs: Epochs,
  at: Responding,
  written: Item[],
): ItemSlots {
  const used = new Set<number>();
  let begun = 0;
  return {
    host,
    epochs,
    at,
    take: () => {
      let lane = 0;
      while (used.has(lane)) lane += 1;
      used.add(lane);
      const itemId = writtenItemIdOf(at.turnId, begun);
      begun += 1;
      return { itemId, lane };
    },
    done: (lane, item) => {
      used.delete(lane);
      written.push(item);
    },
  };
}
