import { encode } from "../wire/encode.ts";
import type { Item } from "../content/item.ts";
import { apply } from "../event/apply.ts";
import type { Applied } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import type { Fact } from "../event/event.ts";
import { replay } from "../event/reduce.ts";
import type { SessionState } from "../event/state.ts";
import { withoutUndone } from "../event/undone.ts";
import type { ItemId } from "../ids.ts";
import { List } from "../list.ts";
import { holdsItem } from "../store-kit/store-row.ts";
import { item as itemShape } from "../wire/content-codec.ts";

/** A fact that changes what earlier facts stored: a reset undoes those above `to`, an exchange replaces an item. */
export type Change =
  | { readonly n: number; readonly to: number }
  | { readonly n: number; readonly itemId: ItemId };

/**
 * A state with the numbers that paging needs: a page begins at the fact of an item, and shows what later
 * facts made of the items in it. Readers of the store hold one; viewers hold the state alone.
 */
export interface PagedState {
  readonly state: SessionState;
  /** For each item of the state the number of the fact that added it. */
  readonly places: List<number>;
  /** In the order of their facts. */
  readonly changes: readonly Change[];
}

/** A state without items, such as that of a session before its first fact. */
export function newPagedState(state: SessionState): PagedState {
  return { state, places: List.of(), changes: [] };
}

/** As `apply`, with the numbers kept along. */
export function applyPaged(
  paged: PagedState,
  message: Fact | Batch,
): { readonly paged: PagedState; readonly applied: Applied } {
  const applied = apply(paged.state, message);
  const { state } = applied;
  const grown = state.items.length > paged.state.items.length;
  const places = grown && "n" in message ? paged.places.append(message.n) : paged.places;
  const exchanges = applied.verdict === "applied" && "n" in message && !grown;
  const changes =
    exchanges && message.type === "item_replaced"
      ? [...paged.changes, { n: message.n, itemId: message.item.id }]
      : paged.changes;
  return { paged: { state, places, changes }, applied };
}

/** As `replay`, with the numbers kept along. */
export function replayPaged(empty: SessionState, facts: readonly Fact[]): PagedState {
  const places: number[] = [];
  const changes: Change[] = [];
  const known = new Set<ItemId>();
  for (const fact of withoutUndone(facts)) {
    if (!holdsItem(fact)) continue;
    const { n, type, item } = fact;
    if (type === "item_replaced" && known.has(item.id)) changes.push({ n, itemId: item.id });
    else places.push(n);
    known.add(item.id);
  }
  for (const fact of facts) {
    const to = fact.type === "session_claimed" ? fact.to : undefined;
    if (to !== undefined) changes.push({ n: fact.n, to });
  }
  return {
    state: replay(empty, facts),
    places: List.of(places),
    changes: changes.toSorted((left, right) => left.n - right.n),
  };
}

/** The bytes of items that a viewer is sent when it joins, unless its server sets another budget. */
export const defaultSnapshotBytes: number = 256 * 1_024;

/**
 * The same with the newest items only: those that fit into so many bytes as they are encoded, and at
 * least one. Costs what is kept, however long the session is.
 */
export function newestItems(paged: PagedState, bytes: number): PagedState {
  const { state, places } = paged;
  const { items } = state;
  let room = bytes;
  let first = items.length;
  while (first > 0) {
    room -= encodedBytes(items.at(first - 1) as Item) + 1;
    if (room < 0 && first < items.length) break;
    first -= 1;
  }
  if (first === 0) return paged;
  const kept: Item[] = [];
  const numbers: number[] = [];
  for (let at = first; at < items.length; at += 1) {
    kept.push(items.at(at) as Item);
    numbers.push(places.at(at) as number);
  }
  const ids = new Set(kept.map(({ id }) => id));
  // Of the others the summary is left out too.
  const compactions = state.compactions.filter(({ itemId }) => ids.has(itemId));
  const earlier = { count: (state.earlier?.count ?? 0) + first, before: numbers[0] as number };
  return {
    ...paged,
    state: { ...state, items: List.of(kept), earlier, compactions },
    places: List.of(numbers),
  };
}

const sizes = new WeakMap<Item, number>();
const encoder = new TextEncoder();

function encodedBytes(item: Item): number {
  const known = sizes.get(item);
  if (known !== undefined) return known;
  const size = encoder.encode(JSON.stringify(encode(itemShape, item))).length;
  sizes.set(item, size);
  return size;
}
