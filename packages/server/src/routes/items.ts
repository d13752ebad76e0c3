import type { SessionStore } from "@millrace/core/ports";
import { holdsItem } from "@millrace/core/store-kit";
import type { SessionUid } from "@millrace/core";
import { readNumberedItems } from "@millrace/core/reading";
import type { NumberedItem } from "@millrace/core/reading";
import { encodeItem } from "@millrace/core/wire";
import { notFound, Problem } from "../http/problem.ts";
import type { RouteWork } from "../http/route-context.ts";
import { sessionOf } from "./common.ts";
import { hashTag, jsonText, tagged } from "./etag.ts";

/** Facts that are read at a time to find an item. */
const factsAtOnce = 1_000;

/**
 * A page of items, in the order of the session: those before or after one, or the newest. A page has at
 * most 1 MiB and at least one item. `next` goes in the place of the item's id; with it a page costs what is
 * in it, and without it the item is looked for from the end of the session.
 */
export const listItems: RouteWork = async (context) => {
  const { store, query, limits } = context;
  const { uid } = sessionOf(context);
  const { before, after, limit } = query as ItemsQuery; // of the route's shape
  if (before !== undefined && after !== undefined) {
    throw new Problem("invalid_request", "items are before an item or after one, not both");
  }
  const head = await store.head(uid);
  const from = before ?? after;
  const place = from === undefined ? undefined : await placeOf(store, uid, from);
  const range = after === undefined ? { before: place ?? head + 1 } : { after: place };
  const read = await readNumberedItems({ store, uid, limit, ...range });
  const backwards = after === undefined;
  const page = fitting(read.items, limits.answerBytes, backwards);
  const more = read.more || page.length < read.items.length;
  const edge = backwards ? page[0] : page.at(-1);
  const next = more && edge !== undefined ? `${edge.n}~${edge.id}` : undefined;
  const items = page.map(({ text }) => text).join(",");
  const body = `{"head":${head},"items":[${items}]${next === undefined ? "" : `,"next":${JSON.stringify(next)}`}}`;
  return tagged(context, hashTag(body), () => jsonText(200, body));
};

interface ItemsQuery {
  readonly before?: string;
  readonly after?: string;
  readonly limit?: number;
}

interface EncodedItem {
  readonly n: number;
  readonly id: string;
  readonly text: string;
}

/** As many items as fit, those first that are nearest to where the page begins. */
function fitting(
  items: readonly NumberedItem[],
  bytes: number,
  backwards: boolean,
): readonly EncodedItem[] {
  const page: EncodedItem[] = [];
  let room = bytes;
  for (const { n, item } of backwards ? items.toReversed() : items) {
    const text = `{"n":${n},"item":${JSON.stringify(encodeItem(item))}}`;
    room -= Buffer.byteLength(text) + 1;
    if (room < 0 && page.length > 0) break;
    page.push({ n, id: item.id, text });
  }
  return backwards ? page.toReversed() : page;
}

/** The number of the fact that added an item. Throws `not_found`. */
async function placeOf(store: SessionStore, uid: SessionUid, from: string): Promise<number> {
  const [, number, id] = /^(\d{1,15})~(.+)$/s.exec(from) ?? [];
  if (number !== undefined) {
    const [fact] = await store.read(uid, { after: Number(number) - 1, limit: 1 });
    if (fact !== undefined && holdsItem(fact) && fact.item.id === id) return fact.n;
  }
  let found: number | undefined;
  for (let before = Number.MAX_SAFE_INTEGER; before > 1;) {
    const facts = await store.read(uid, { before, limit: factsAtOnce });
    // The first fact of the item added it, later ones have replaced it.
    for (const fact of facts.toReversed())
      if (holdsItem(fact) && fact.item.id === from) found = fact.n;
    if (found !== undefined && facts.some((fact) => isAddition(fact, from))) return found;
    before = facts[0]?.n ?? 1;
  }
  if (found !== undefined) return found;
  throw notFound();
}

function isAddition(fact: Awaited<ReturnType<SessionStore["read"]>>[number], id: string): boolean {
  return fact.type === "item_committed" && fact.item.id === id;
}
