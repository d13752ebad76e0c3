import type { JsonObject } from "@millrace/core";
import { beginCall, finishCall, nameCall } from "./call.ts";
import type { CallStage } from "./call.ts";
import { filledAt, objectAt } from "../read.ts";
import { countField } from "./events.ts";
import { beginHosted, finishHosted } from "./hosted.ts";
import { beginMessage, finishMessage } from "./message.ts";
import { beginReasoning, finishReasoning } from "./reasoning.ts";
import type { Book, Edit, ItemKey, VendorItem } from "./state.ts";

/** The key of an event's item: its `output_index`, else the key recorded for its id. */
export function keyOf(book: Book, data: JsonObject): ItemKey | undefined {
  const index = countField(data, "output_index");
  if (index !== undefined) return index;
  const id = filledAt(data, "item_id") ?? filledAt(objectAt(data, "item"), "id");
  return id === undefined ? undefined : (book.keys.get(id) ?? id);
}

/** The kind of a vendor's item. Every unknown type is an item that the vendor runs. */
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
  const kind = kindOf(item);
  switch (kind) {
    case "message":
      return beginMessage(edit, key, item);
    case "reasoning":
      return beginReasoning(edit, key, item);
    case "call":
      return beginCall(edit, key, item);
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
  if (kind === "message") finishMessage(edit, key, item, stage === "incomplete");
  else if (kind === "reasoning") finishReasoning(edit, key, item, stage !== "item_done");
  else if (kind === "call") finishCall(edit, key, item, stage);
  else if (kind === "hosted") finishHosted(edit, key, item);
}

export function addItem(edit: Edit, data: JsonObject): void {
  const item = objectAt(data, "item");
  const key = keyOf(edit.book, data);
  if (item === undefined || key === undefined) {
    edit.fail("protocol", "an item came without its place or its content", evidenceOf(data));
    return;
  }
  const known = edit.book.items.get(key);
  if (known === undefined) {
    beginItem(edit, key, item);
    return;
  }
  // Its deltas arrived first, or it is announced twice.
  const id = filledAt(item, "id");
  const same = known.id === undefined || id === undefined || known.id === id;
  if (!sameKind(known, item) || !same) {
    edit.fail("protocol", "two items have the same place in the output", evidenceOf(data));
  } else if (known.kind === "call") nameCall(edit, key, item);
}

export function endItem(edit: Edit, data: JsonObject): void {
  const item = objectAt(data, "item");
  const key = keyOf(edit.book, data);
  if (item === undefined || key === undefined) {
    edit.fail("protocol", "an item ended without its place or its content", evidenceOf(data));
    return;
  }
  const known = edit.book.items.get(key) ?? beginItem(edit, key, item);
  const again = known.closed && known.id !== filledAt(item, "id");
  if (!sameKind(known, item) || again) {
    edit.fail("protocol", "an item ended in the place of another", evidenceOf(data));
  } else if (!known.closed) finishItem(edit, key, item, "item_done");
}

/** True if an item can be the final form of a known one. */
export function sameKind(known: VendorItem, item: JsonObject): boolean {
  if (known.kind !== kindOf(item)) return false;
  return known.kind !== "hosted" || known.type === item["type"];
}

function evidenceOf(data: JsonObject): JsonObject {
  const item = objectAt(data, "item");
  const type = filledAt(item, "type")?.slice(0, 200) ?? null;
  const id = filledAt(item, "id")?.slice(0, 200) ?? null;
  return { event: data["type"] ?? null, index: data["output_index"] ?? null, type, id };
}
