import { partId } from "@millrace/core/writing";
import type { Item, ItemId } from "@millrace/core";
import type { Compaction } from "@millrace/core/reading";
import { signatureOf } from "./summary.ts";

/** What stands in one place of the context: an item, or a summary of several. */
export interface Entry {
  /** As a model is given it. */
  readonly item: Item;
  readonly summary: boolean;
  /** The places of the first and the last item in the session that it stands for. */
  readonly from: number;
  readonly to: number;
}

interface Range {
  readonly from: number;
  readonly to: number;
  /** Where the summary itself was committed. */
  readonly at: number;
  readonly item: Item;
}

/**
 * The session's items with summaries in the place of what they stand for. An item is covered by the
 * latest compaction whose range holds it. A summary stands where the first item stood that is covered
 * by it, and nowhere if later ones cover all of its range. An end that is itself a summary means the
 * range of that one. A compaction whose ends or summary are not there, or whose summary is blank,
 * changes nothing. Linear, but for the inverse Ackermann function.
 */
export function entriesOf(
  items: readonly Item[],
  compactions: readonly Compaction[],
): readonly Entry[] {
  const ranges = rangesOf(items, compactions);
  const owners = paint(items.length, ranges);
  const moved = new Set(ranges.map(({ at }) => at));
  const placed = new Set<number>();
  const entries: Entry[] = [];
  for (const [at, item] of items.entries()) {
    const range = owners[at];
    if (range === undefined) {
      if (!moved.has(at)) entries.push({ item, summary: false, from: at, to: at });
    } else if (!placed.has(range.at)) {
      placed.add(range.at);
      const { from, to } = range;
      entries.push({ item: presented(range.item), summary: true, from, to });
    }
  }
  return entries;
}

function rangesOf(items: readonly Item[], compactions: readonly Compaction[]): readonly Range[] {
  if (compactions.length === 0) return [];
  const places = new Map<ItemId, number>();
  for (const [at, { id }] of items.entries()) if (!places.has(id)) places.set(id, at);
  const ranges = new Map<ItemId, Range>();
  const all: Range[] = [];
  for (const { itemId, first, last } of compactions) {
    const at = places.get(itemId);
    const from = ranges.get(first)?.from ?? places.get(first);
    const to = ranges.get(last)?.to ?? places.get(last);
    const item = at === undefined ? undefined : items[at];
    if (at === undefined || item === undefined || from === undefined || to === undefined) continue;
    if (from > to || textOf(item).trim() === "") continue;
    const range = { from, to, at, item };
    ranges.set(itemId, range);
    all.push(range);
  }
  return all;
}

/** For each place the latest range that holds it. */
function paint(length: number, ranges: readonly Range[]): readonly (Range | undefined)[] {
  if (ranges.length === 0) return [];
  const owners: (Range | undefined)[] = Array.from({ length });
  // The latest first, and each place once: `free` leads to the next place that is not taken, so
  // that many ranges over the same items don't each walk over all of them.
  const free = Array.from({ length: length + 1 }, (_, at) => at);
  const nextFree = (start: number): number => {
    let end = start;
    while (free[end] !== end) end = free[end] ?? length;
    for (let at = start; at !== end;) {
      const next = free[at] ?? end;
      free[at] = end;
      at = next;
    }
    return end;
  };
  for (const range of ranges.toReversed()) {
    for (let at = nextFree(range.from); at <= range.to; at = nextFree(at)) {
      owners[at] = range;
      free[at] = at + 1;
    }
  }
  return owners;
}

const introduction =
  "What came before this was left out to save room. A summary of it, written to go on by:";

/**
 * A summary as an item of the user. Every vendor takes the user first, and some refuse a model's item
 * there, or one that ends the transcript. Its introduction names it a summary, so that it is not
 * read as the user's own words. Reasoning and whatever else its model wrote beside the text stays in the session.
 */
function presented(item: Item): Item {
  const text = `${introduction}\n\n${textOf(item)}`;
  const metadata = signatureOf(item);
  const signed = metadata === undefined ? {} : { metadata };
  return {
    id: item.id,
    author: "user",
    parts: [{ kind: "text", id: partId("summary"), text, ...signed }],
    stop: "end",
  };
}

function textOf(item: Item): string {
  return item.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n\n");
}
