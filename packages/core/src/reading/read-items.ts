import type { Item } from "../content/item.ts";
import type { Fact } from "../event/event.ts";
import type { Earlier } from "../event/state.ts";
import type { ItemId, SessionUid } from "../ids.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { holdsItem } from "../store-kit/store-row.ts";
import { decodeCheckpoint } from "./checkpoint.ts";
import type { Change } from "./paged-state.ts";

/** Which items are read. */
export interface ReadItemsOptions {
  readonly store: Pick<SessionStore, "read" | "checkpoint">;
  readonly uid: SessionUid;
  /** What is left out so far: of a snapshot, a state, a view or a page. */
  readonly earlier: Earlier;
  /** How many items at most. 50 if left out. */
  readonly limit?: number | undefined;
}

/** Items in their order, and those that come before them. */
export interface ItemPage {
  readonly items: readonly Item[];
  /** Left out: these are the first items of the session. */
  readonly earlier?: Earlier;
}

/** Facts that are read at a time. */
const factsAtOnce = 256;

/**
 * The last items before a position, with their latest content and without those that a reset has undone.
 * Costs the facts of the page, and what changed the session's items since: the checkpoint knows the
 * changes before it, and the facts after it are read. Rejects if the store fails.
 */
export async function readItems(options: ReadItemsOptions): Promise<ItemPage> {
  const { store, uid, earlier, limit } = options;
  const page = await readNumberedItems({ store, uid, before: earlier.before, limit });
  const items = page.items.map(({ item }) => item);
  const count = Math.max(0, earlier.count - items.length);
  const first = page.items[0]?.n;
  return count === 0 || first === undefined
    ? { items }
    : { items, earlier: { count, before: first } };
}

/** Which items are read, by the numbers of the facts that added them. */
export interface NumberedItemsOptions {
  readonly store: Pick<SessionStore, "read" | "checkpoint">;
  readonly uid: SessionUid;
  /** The first items whose facts are after this one. Left out: the last items before `before`. */
  readonly after?: number | undefined;
  /** Left out: the end of the session. */
  readonly before?: number | undefined;
  /** How many items at most. 50 if left out. */
  readonly limit?: number | undefined;
  /** As the page before gave them: else each page reads what changed the session's items since. */
  readonly changes?: ItemChanges | undefined;
}

/** An item, and the number of the fact that added it. */
export interface NumberedItem {
  readonly n: number;
  readonly item: Item;
}

/** Items in their order. */
export interface NumberedItemPage {
  readonly items: readonly NumberedItem[];
  /** True if there are further items in the direction of reading. */
  readonly more: boolean;
  /** For the next page after this one. */
  readonly changes: ItemChanges;
}

/** As `readItems`, in either direction, with the numbers by which the next page is read. */
export async function readNumberedItems(options: NumberedItemsOptions): Promise<NumberedItemPage> {
  const { store, uid, limit = 50, after } = options;
  const most = Math.max(1, limit);
  const before = options.before ?? (await endOf(store, uid));
  const known = options.changes ?? (await changesOf(store, uid, (after ?? before - 1) + 1));
  let { changes } = known;
  const found: NumberedItem[] = [];
  const take = (facts: readonly Fact[]): void => {
    const { undone, isExchange } = effectsOf(changes);
    for (const fact of facts)
      if (holdsItem(fact) && !undone(fact.n) && !isExchange(fact)) found.push(fact);
  };
  if (after === undefined) {
    for (let end = before; end > 1 && found.length <= most;) {
      const facts = await store.read(uid, { before: end, limit: factsAtOnce });
      if (!known.whole) changes = [...facts.flatMap(changeOf), ...changes];
      take(facts.toReversed());
      end = facts[0]?.n ?? 1;
    }
  } else {
    for (let start = after; found.length <= most;) {
      const facts = await store.read(uid, { after: start, limit: factsAtOnce });
      take(facts.filter(({ n }) => n < before));
      start = facts.at(-1)?.n ?? before;
      if (facts.length < factsAtOnce || start >= before) break;
    }
  }
  const page = found.slice(0, most);
  const ordered = after === undefined ? page.toReversed() : page;
  const items = await withLatest(options, ordered, effectsOf(changes));
  return { items, more: found.length > most, changes: { changes, whole: known.whole } };
}

async function endOf(store: NumberedItemsOptions["store"], uid: SessionUid): Promise<number> {
  const [last] = await store.read(uid, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
  return (last?.n ?? 0) + 1;
}

async function withLatest(
  { store, uid }: NumberedItemsOptions,
  page: readonly NumberedItem[],
  { latest: latestOf }: Effects,
): Promise<readonly NumberedItem[]> {
  const items: NumberedItem[] = [];
  for (const { n, item } of page) {
    const latest = latestOf(item.id, n);
    const [fact] =
      latest === undefined ? [] : await store.read(uid, { after: latest - 1, limit: 1 });
    items.push({ n, item: fact !== undefined && holdsItem(fact) ? fact.item : item });
  }
  return items;
}

/** What changed items after they were stored. */
export interface ItemChanges {
  readonly changes: readonly Change[];
  /** True if a checkpoint knows them from the first fact on. Else they are those from a fact on. */
  readonly whole: boolean;
}

/** What changed items after they were stored: known from the checkpoint, and from the facts after it. */
async function changesOf(
  store: ReadItemsOptions["store"],
  uid: SessionUid,
  from: number,
): Promise<ItemChanges> {
  const kept = await store.checkpoint?.(uid).catch(() => undefined);
  const known = kept === undefined ? undefined : decodeCheckpoint(uid, kept)?.paged;
  const changes: Change[] = [...(known?.changes ?? [])];
  const atOnce = factsAtOnce * 4;
  for (let after = known?.state.head ?? from - 1; ;) {
    const facts = await store.read(uid, { after, limit: atOnce });
    changes.push(...facts.flatMap(changeOf));
    after = facts.at(-1)?.n ?? after;
    if (facts.length < atOnce) return { changes, whole: known !== undefined };
  }
}

/** A lane's own replacement is its item's first content, and no change. */
function changeOf(fact: Fact): readonly Change[] {
  if (fact.type === "session_claimed" && fact.to !== undefined) return [{ n: fact.n, to: fact.to }];
  if (fact.type !== "item_replaced" || fact.lane !== undefined) return [];
  return [{ n: fact.n, itemId: fact.item.id }];
}

interface Effects {
  /** True for an item's fact that a reset has undone, also one that was itself undone later. */
  readonly undone: (n: number) => boolean;
  /** True for the fact of an exchange, which is no item of its own. */
  readonly isExchange: (fact: Fact) => boolean;
  /** The number of the fact with the item's latest content, if that is another one. */
  readonly latest: (id: ItemId, n: number) => number | undefined;
}

function effectsOf(changes: readonly Change[]): Effects {
  const resets = changes.flatMap((change) => ("to" in change ? [change] : []));
  const undone = (n: number): boolean => resets.some((reset) => reset.to < n && n < reset.n);
  const numbers = new Set<number>();
  const newest = new Map<ItemId, number>();
  for (const change of changes) {
    if (!("itemId" in change) || undone(change.n)) continue;
    numbers.add(change.n);
    newest.set(change.itemId, change.n);
  }
  return {
    undone,
    isExchange: ({ n }) => numbers.has(n),
    latest: (id, n) => {
      const last = newest.get(id);
      return last !== undefined && last > n ? last : undefined;
    },
  };
}
