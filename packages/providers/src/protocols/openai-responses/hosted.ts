import { decodeBase64 } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { filledAt, textAt } from "../read.ts";
import { keepable, present, typeOf } from "./events.ts";
import type { Edit, HostedItem, ItemKey } from "./state.ts";

/**
 * Begins an item that the vendor makes or runs itself, such as a search. It is shown and sent back,
 * but never run by the loop, so it is not a call.
 */
export function beginHosted(edit: Edit, key: ItemKey, item: JsonObject): HostedItem {
  const type = filledAt(item, "type") ?? "unknown";
  const partId = edit.begin({ kind: "custom", name: type.slice(0, 200).toWellFormed() });
  const hosted: HostedItem = {
    kind: "hosted",
    id: filledAt(item, "id"),
    after: edit.book.after,
    closed: false,
    partId,
    type,
    value: item,
  };
  edit.put(key, hosted);
  // Shown now only if its status is unfinished, so that a cut reply never looks complete.
  const status = filledAt(item, "status");
  if (status !== undefined && status !== "completed") show(edit, hosted);
  return hosted;
}

/**
 * Updates the status from an event such as `response.web_search_call.searching`: the last word is
 * the status.
 */
export function noteProgress(edit: Edit, key: ItemKey, data: JsonObject): void {
  const hosted = edit.book.items.get(key);
  const status = typeOf(data).split(".").at(-1) ?? "";
  if (hosted?.kind !== "hosted" || hosted.closed || hosted.value["status"] === undefined) return;
  // Only the finished item may end it, because this event has no results.
  if (status === "completed" || status === "failed" || status === hosted.value["status"]) return;
  change(edit, key, hosted, { status });
}

/**
 * Records complete code or arguments. Their deltas are not streamed, because they would be shown as
 * JSON.
 */
export function noteWritten(edit: Edit, key: ItemKey, data: JsonObject): void {
  const hosted = edit.book.items.get(key);
  if (hosted?.kind !== "hosted" || hosted.closed) return;
  const written = present({
    code: textAt(data, "code"),
    arguments: textAt(data, "arguments"),
  });
  if (Object.keys(written).length > 0) change(edit, key, hosted, written);
}

export function finishHosted(edit: Edit, key: ItemKey, item: JsonObject | undefined): void {
  const hosted = edit.book.items.get(key);
  if (hosted?.kind !== "hosted") return;
  const value = item ?? hosted.value;
  const { result, ...rest } = value;
  const picture = hosted.type === "image_generation_call" && typeof result === "string";
  const closed: HostedItem = {
    ...hosted,
    id: filledAt(value, "id") ?? hosted.id,
    closed: true,
    value: picture ? rest : value,
  };
  edit.put(key, closed);
  show(edit, closed);
  if (hosted.after !== undefined) edit.describe(hosted.partId, { after: hosted.after });
  edit.close(hosted.partId);
  if (picture && result !== "") addPicture(edit, closed, result);
}

/** Adds the image as a part of its own: as text in a value it would exceed the size limit. */
function addPicture(edit: Edit, { id, value }: HostedItem, result: string): void {
  const bytes = decodeBase64(result);
  if (bytes === undefined) {
    edit.fail("protocol", "a picture is not base64", present({ id: id?.slice(0, 200) }));
    return;
  }
  const format = /^[a-z0-9]{1,20}$/.exec(textAt(value, "output_format") ?? "")?.[0] ?? "png";
  const mediaType = format === "svg" ? "image/svg+xml" : `image/${format}`;
  const partId = edit.begin({ kind: "media", mediaType });
  edit.add({ op: "append_bytes", partId, chunk: bytes });
  if (id !== undefined) edit.describe(partId, { item: id.toWellFormed() });
  edit.close(partId);
}

function change(edit: Edit, key: ItemKey, hosted: HostedItem, fields: JsonObject): void {
  const changed = { ...hosted, value: { ...hosted.value, ...fields } };
  edit.put(key, changed);
  show(edit, changed);
}

function show(edit: Edit, { partId, value }: HostedItem): void {
  edit.add({ op: "replace_structured", partId, value: keepable(value) });
}
