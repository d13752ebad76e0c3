import type { Fact, Item, ItemId, SessionState } from "@millrace/core";
import { withoutUndone } from "@millrace/core/reading";
import { List } from "@millrace/core/writing";
import type { Compaction } from "@millrace/core/reading";
import { entriesOf } from "./entries.ts";
import { emptyGuide, guideAfter } from "./guide.ts";
import type { Guide } from "./guide.ts";

/**
 * The items that requests are made of: those that no summary covers, and summaries in the place of what
 * they cover. As long as a session is compacted, this stays short, however long the session is.
 */
export interface Context {
  readonly items: List<Item>;
  /**
   * The summaries among the items, with the first and the last item that they cover: a later compaction
   * names a summary by itself or by those.
   */
  readonly summaries: ReadonlyMap<ItemId, readonly ItemId[]>;
  /** What requests are made of beside the items. */
  readonly guide: Guide;
}

/** The context of a session by its state and all facts. Linear in their number. */
export function contextOf(
  { items, compactions }: Pick<SessionState, "items" | "compactions">,
  facts: readonly Fact[],
): Context {
  const all = items.toArray();
  const summaries = new Map<ItemId, readonly ItemId[]>();
  const placed = entriesOf(all, compactions);
  for (const { item, summary, from, to } of placed)
    if (summary)
      summaries.set(
        item.id,
        [all[from], all[to]].flatMap((end) => (end ? [end.id] : [])),
      );
  const guide = withoutUndone(facts).reduce(guideAfter, emptyGuide);
  return { items: raw(all, placed), summaries, guide };
}

/** The compactions of the context: each of its summaries stands for itself alone. */
export function compactionsOf({ summaries }: Context): readonly Compaction[] {
  return [...summaries.keys()].map((id) => ({ itemId: id, first: id, last: id }));
}

/** The context after one more fact, given the states before and after it. Costs the context at most. */
export function contextAfter(
  { guide, ...given }: Context,
  fact: Fact,
  before: SessionState,
  after: SessionState,
): Context {
  const context = { ...given, guide: guideAfter(guide, fact) };
  const { items } = context;
  const added = after.items.length > before.items.length ? after.items.at(-1) : undefined;
  if (added !== undefined) return { ...context, items: items.append(added) };
  if (fact.type === "item_replaced") {
    const place = items.findLastIndex(({ id }) => id === fact.item.id);
    return place < 0 ? context : { ...context, items: items.with(place, fact.item) };
  }
  if (fact.type !== "compaction_finished" || fact.summary === undefined) return context;
  return compacted(context, fact.summary);
}

/** Puts a summary in the place of what it covers. If its ends are not in the context, nothing changes. */
function compacted(context: Context, { itemId, first, last }: Compaction): Context {
  const all = context.items.toArray();
  const from = standIn(context, first);
  const to = standIn(context, last);
  const placed = entriesOf(all, [...compactionsOf(context), { itemId, first: from, last: to }]);
  const begin = context.summaries.get(from)?.[0] ?? from;
  const end = context.summaries.get(to)?.at(-1) ?? to;
  const known = new Map(context.summaries).set(itemId, [begin, end]);
  const summaries = new Map<ItemId, readonly ItemId[]>();
  for (const { item, summary } of placed)
    if (summary) summaries.set(item.id, known.get(item.id) ?? []);
  return summaries.has(itemId) ? { ...context, items: raw(all, placed), summaries } : context;
}

/** The item that stands in the context for an end of a range: itself, or the summary that covers it. */
function standIn({ items, summaries }: Context, id: ItemId): ItemId {
  if (items.findLastIndex((item) => item.id === id) >= 0) return id;
  for (const [summary, names] of summaries) if (names.includes(id)) return summary;
  return id;
}

/** The items of the entries as they are stored. */
function raw(all: readonly Item[], entries: ReturnType<typeof entriesOf>): List<Item> {
  const stored = new Map<ItemId, Item>();
  for (const item of all) if (!stored.has(item.id)) stored.set(item.id, item);
  return List.of(
    entries.map(({ item, summary }) => (summary ? (stored.get(item.id) ?? item) : item)),
  );
}
