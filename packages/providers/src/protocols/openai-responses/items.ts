import type { JsonObject } from "@millrace/core";
import { argumentsIn, beginCall, finishCall, nameCall } from "./call.ts";
import type { CallStage } from "./call.ts";
import { filledAt, objectAt } from "../read.ts";
import { beginHosted, finishHosted } from "./hosted.ts";
import { beginMessage, finishMessage, sameTexts } from "./message.ts";
import { keysAt, namesOf, newPlace } from "./places.ts";
import { beginReasoning, finishReasoning } from "./reasoning.ts";
import { beginNative, finishNative, isNativeCall } from "./native.ts";
import type { Book, Edit, ItemKey, VendorItem } from "./state.ts";

/**
 * The kind of a vendor's item. Every unknown type is an item that the vendor runs, and so are calls of
 * its own tools unless they are offered (see `isNativeCall`).
 */
export function kindOf(item: JsonObject): VendorItem["kind"] {
  switch (item["type"]) {
    case "message":
    case "reasoning":
      return item["type"];
    case "function_call":
    case "custom_tool_call":
      return "call";
    default:
      return "hosted";
  }
}

/** Begins an item, whichever event shows it first. */
export function beginItem(edit: Edit, key: ItemKey, item: JsonObject): VendorItem {
  const kind = isNativeCall(edit.book, item) ? "native" : kindOf(item);
  switch (kind) {
    case "message":
      return beginMessage(edit, key, item);
    case "reasoning":
      return beginReasoning(edit, key, item);
    case "call":
      return beginCall(edit, key, item);
    case "native":
      return beginNative(edit, key, item);
    case "hosted":
      return beginHosted(edit, key, item);
    default:
      kind satisfies never;
      return kind;
  }
}

/** Closes an item, with its final form if there is one. */
export function finishItem(
  edit: Edit,
  key: ItemKey,
  item: JsonObject | undefined,
  stage: CallStage,
): void {
  const kind = edit.book.items.get(key)?.kind;
  if (kind === "message") finishMessage(edit, key, item, stage);
  else if (kind === "reasoning") finishReasoning(edit, key, item, stage !== "item_done");
  else if (kind === "call") finishCall(edit, key, item, stage);
  else if (kind === "native") finishNative(edit, key, item, stage);
  else if (kind === "hosted") finishHosted(edit, key, item);
}

export function addItem(edit: Edit, data: JsonObject): void {
  const item = objectAt(data, "item");
  if (item === undefined) {
    edit.fail("protocol", "an item came without its content", { event: data["type"] ?? null });
    return;
  }
  const { index, id } = namesOf(data);
  const named = id === undefined ? undefined : edit.book.keys.get(id);
  const there = index === undefined && named !== undefined ? [named] : keysAt(edit.book, index);
  // Its deltas arrived first, or it is announced twice.
  const key = there.find((each) => isKnown(edit.book.items.get(each), item));
  if (key === undefined) beginItem(edit, newPlace(edit, data), item);
  else nameCall(edit, key, item);
}

export function endItem(edit: Edit, data: JsonObject): void {
  const item = objectAt(data, "item");
  if (item === undefined) {
    edit.fail("protocol", "an item ended without its content", { event: data["type"] ?? null });
    return;
  }
  const key = placeOfEnd(edit.book, data, item) ?? newPlace(edit, data);
  const known = edit.book.items.get(key) ?? beginItem(edit, key, item);
  if (!known.closed) finishItem(edit, key, item, "item_done");
}

/** The item that ends here, or that has ended and repeats its end; undefined for a new one. */
function placeOfEnd(book: Book, data: JsonObject, item: JsonObject): ItemKey | undefined {
  const { index, id } = namesOf(data);
  const named = id === undefined ? undefined : book.keys.get(id);
  const nameless = index === undefined && id === undefined;
  const there = nameless ? [...book.items.keys()].toReversed() : keysAt(book, index);
  const at = (key: ItemKey): VendorItem | undefined => book.items.get(key);
  // One that is open before one that has ended with the same words: a reply may repeat itself.
  const found =
    there.find((key) => isKnown(at(key), item)) ?? there.find((key) => repeats(at(key), item));
  if (found !== undefined || named === undefined) return found;
  // Some servers end an item at another index than they began it, others give all items one id.
  const isOpen = at(named)?.closed === false && isKnown(at(named), item);
  return isOpen || index === undefined || repeats(at(named), item) ? named : undefined;
}

/** True if an item is one that is known already, though its id may have changed. */
function isKnown(known: VendorItem | undefined, item: JsonObject): boolean {
  if (known === undefined || !sameKind(known, item)) return false;
  const [id, callId] = [filledAt(item, "id"), filledAt(item, "call_id")];
  if (known.kind === "call" && known.callId !== undefined && callId !== undefined) {
    return known.callId === callId;
  }
  const isOne = known.kind === "hosted" || known.kind === "native";
  const ended = known.closed || (!isOne && known.done !== undefined);
  if (ended) return id !== undefined && known.id === id;
  const differs = id !== undefined && known.id !== undefined && known.id !== id;
  return !differs || !isOne;
}

/** True if an item has the content of a known one that has ended. */
function repeats(known: VendorItem | undefined, item: JsonObject): boolean {
  if (known?.closed !== true || !sameKind(known, item)) return false;
  if (known.kind === "message") return sameTexts(known, item);
  return known.kind === "call" && known.callId === undefined && known.whole === argumentsIn(item);
}

/** True if an item can be the final form of a known one. */
export function sameKind(known: VendorItem, item: JsonObject): boolean {
  if (known.kind === "native") return known.type === item["type"];
  if (known.kind !== kindOf(item)) return false;
  return known.kind !== "hosted" || known.type === item["type"];
}
