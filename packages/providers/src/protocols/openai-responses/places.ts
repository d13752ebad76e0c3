import type { JsonObject } from "@millrace/core";
import { filledAt, objectAt } from "../read.ts";
import { countField } from "./events.ts";
import type { Book, Edit, ItemKey, VendorItem } from "./state.ts";

/**
 * The item that an event of this kind belongs to: the one at its `output_index`, else the one with
 * its id, because servers give two items one index, change the id with every event, or leave either
 * out. An event without both belongs to the latest open item of the kind.
 */
export function placeOf(
  book: Book,
  data: JsonObject,
  kind: VendorItem["kind"],
): ItemKey | undefined {
  const { index, id } = namesOf(data);
  const fits = (key: ItemKey | undefined): boolean =>
    key !== undefined && book.items.get(key)?.kind === kind;
  const named = id === undefined ? undefined : book.keys.get(id);
  const isShared = index !== undefined && book.shared?.has(index) === true;
  if (isShared && fits(named)) return named;
  const there = keysAt(book, index).filter((key) => fits(key));
  if (there.length === 1) return there[0];
  if (fits(named)) return named;
  if (there.length > 0) return there.findLast((key) => isOpen(book, key)) ?? there.at(-1);
  if (index !== undefined || id !== undefined) return undefined;
  return [...book.items.keys()].findLast((key) => fits(key) && isOpen(book, key));
}

/** The items at an index, in the order of their beginning. Without an index, none. */
export function keysAt({ items, shared }: Book, index: number | undefined): readonly ItemKey[] {
  if (index === undefined) return [];
  return shared?.get(index) ?? (items.has(index) ? [index] : []);
}

/** A free key for a new item. An index that another item has is shared from now on. */
export function newPlace(edit: Edit, data: JsonObject): ItemKey {
  const { index, id } = namesOf(data);
  const { items, shared } = edit.book;
  if (index === undefined) return id === undefined || items.has(id) ? `item ${items.size}` : id;
  const there = keysAt(edit.book, index);
  if (there.length === 0) return index;
  const key = `output ${index}, ${there.length}`;
  edit.book = { ...edit.book, shared: new Map(shared).set(index, [...there, key]) };
  return key;
}

/** What an event names its item by. */
export function namesOf(data: JsonObject): {
  readonly index: number | undefined;
  readonly id: string | undefined;
} {
  const id = filledAt(data, "item_id") ?? filledAt(objectAt(data, "item"), "id");
  return { index: countField(data, "output_index"), id };
}

function isOpen(book: Book, key: ItemKey): boolean {
  return book.items.get(key)?.closed === false;
}
