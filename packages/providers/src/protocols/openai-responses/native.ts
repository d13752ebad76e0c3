import type { JsonObject } from "@millrace/core";
import { wholeText } from "@millrace/core/model";
import { filledAt, objectAt, textAt } from "../read.ts";
import { escaped, takeCall } from "./call.ts";
import type { CallStage } from "./call.ts";
import { countField, keepable, present } from "./events.ts";
import { nativeInput, patchInput } from "./native-input.ts";
import { nativeItems } from "./native-tool.ts";
import type { Book, Edit, ItemKey, NativeItem } from "./state.ts";

/**
 * True for an item that is a call of a tool which was offered. The vendor runs commands by itself if
 * they have a container.
 */
export function isNativeCall({ native }: Book, item: JsonObject): boolean {
  const name = nativeItems.get(filledAt(item, "type") ?? "");
  const place = objectAt(item, "environment")?.["type"];
  return name !== undefined && native.has(name) && (place === undefined || place === "local");
}

/** Begins a call of one of the vendor's own tools. */
export function beginNative(edit: Edit, key: ItemKey, item: JsonObject): NativeItem {
  const type = filledAt(item, "type") ?? "";
  const callId = takeCall(edit, item["call_id"] ?? item["id"]);
  const tool = nativeItems.get(type) ?? type;
  const opening = { kind: "tool_call", tool } as const;
  const native: NativeItem = {
    kind: "native",
    id: filledAt(item, "id"),
    after: edit.book.after,
    closed: false,
    partId: callId === undefined ? undefined : edit.begin({ ...opening, callId }),
    type,
    value: item,
    held: "",
    command: undefined,
  };
  edit.put(key, native);
  return native;
}

/**
 * Streams the commands of a shell. Only those that begin empty: it is not documented whether deltas
 * repeat a command that was announced with its text, and what is streamed can't be taken back.
 */
export function addCommand(edit: Edit, key: ItemKey, data: JsonObject): void {
  const native = nativeAt(edit, key);
  const index = countField(data, "command_index");
  if (native === undefined || index !== (native.command ?? -1) + 1) return;
  const isEmpty = (textAt(data, "command") ?? "") === "";
  if (isEmpty) write(edit, native, index === 0 ? '{"commands":["' : '","');
  edit.put(key, { ...native, held: "", command: isEmpty ? index : Number.NaN });
}

export function appendCommand(edit: Edit, key: ItemKey, data: JsonObject): void {
  const native = nativeAt(edit, key);
  if (native === undefined || countField(data, "command_index") !== native.command) return;
  appendEscaped(edit, key, native, textAt(data, "delta") ?? "");
}

/** Streams the diff of a patch that was announced with its path. */
export function appendDiff(edit: Edit, key: ItemKey, data: JsonObject): void {
  const native = nativeAt(edit, key);
  if (native === undefined) return;
  const announced = patchInput(objectAt(native.value, "operation"));
  if (announced?.["diff"] !== "") return;
  if (native.command === undefined) write(edit, native, JSON.stringify(announced).slice(0, -2));
  appendEscaped(edit, key, { ...native, command: 0 }, textAt(data, "delta") ?? "");
}

function appendEscaped(edit: Edit, key: ItemKey, native: NativeItem, delta: string): void {
  const { text, held } = wholeText(native.held, delta);
  write(edit, native, escaped(text));
  edit.put(key, { ...native, held });
}

function write(edit: Edit, { partId }: NativeItem, chunk: string): void {
  if (partId !== undefined) edit.append(partId, chunk);
}

/** Closes a call. Only its finished item proves that it is whole. */
export function finishNative(
  edit: Edit,
  key: ItemKey,
  item: JsonObject | undefined,
  stage: CallStage,
): void {
  const native = nativeAt(edit, key);
  if (native === undefined) return;
  edit.put(key, { ...native, closed: true, id: filledAt(item, "id") ?? native.id });
  if (native.partId === undefined) return;
  const { created_by: _, ...value } = item ?? native.value;
  const status = value["status"];
  const isCut = item === undefined || status === "incomplete";
  if (isCut || (stage === "incomplete" && status === "in_progress")) {
    edit.close(native.partId, { fault: { code: "truncated" } });
    return;
  }
  // The operation of a patch is the call's input itself, and may be long.
  const { operation, ...rest } = value;
  const input = nativeInput(value);
  const kept = operation === undefined || input === undefined ? value : rest;
  edit.close(native.partId, {
    whole: JSON.stringify(input ?? keepable(value)),
    opaque: present({
      type: native.type,
      id: filledAt(value, "id") ?? native.id,
      after: native.after,
      item: keepable(kept),
    }),
  });
}

function nativeAt(edit: Edit, key: ItemKey): NativeItem | undefined {
  const item = edit.book.items.get(key);
  return item?.kind === "native" && !item.closed ? item : undefined;
}
