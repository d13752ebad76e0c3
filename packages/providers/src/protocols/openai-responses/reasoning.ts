import type { JsonObject } from "@millrace/core";
import { filledAt, objectAt, textAt } from "../read.ts";
import { countField, keepable, objectsField, typeOf } from "./events.ts";
import type { Edit, ItemKey, ReasoningItem, ReasoningSource } from "./state.ts";

export function beginReasoning(edit: Edit, key: ItemKey, item: JsonObject): ReasoningItem {
  const id = filledAt(item, "id");
  const reasoning: ReasoningItem = {
    kind: "reasoning",
    id,
    after: edit.book.after,
    closed: false,
    partId: edit.begin({ kind: "reasoning" }),
    source: undefined,
    section: undefined,
    done: undefined,
  };
  edit.put(key, reasoning);
  // Also set to undefined: later items must not refer to an older reasoning item.
  edit.book = { ...edit.book, after: id };
  return reasoning;
}

/**
 * Reads a delta, or a `.done` for a section that was not streamed. Sections are separated by a
 * blank line.
 */
export function appendReasoning(edit: Edit, key: ItemKey, data: JsonObject): void {
  const item = edit.book.items.get(key);
  const done = typeOf(data).endsWith(".done");
  const text = done
    ? (textAt(data, "text") ?? textAt(objectAt(data, "part"), "text"))
    : textAt(data, "delta");
  if (item?.kind !== "reasoning" || text === undefined || text === "") return;
  const source = typeOf(data).includes("summary") ? "summary" : "content";
  const section = countField(data, source === "summary" ? "summary_index" : "content_index") ?? 0;
  if (item.source !== undefined && item.source !== source) return;
  if (done && item.section !== undefined && section <= item.section) return;
  const between = item.section === undefined || item.section === section ? "" : "\n\n";
  if (item.section !== section) edit.put(key, { ...item, source, section });
  edit.append(item.partId, between + text);
}

/**
 * Closes a reasoning part with the item to send back. Some servers send the encrypted content only
 * with the final response, so the part stays open without it until `last`.
 */
export function finishReasoning(
  edit: Edit,
  key: ItemKey,
  item: JsonObject | undefined,
  last: boolean,
): void {
  const reasoning = edit.book.items.get(key);
  if (reasoning?.kind !== "reasoning") return;
  const encrypted =
    filledAt(item, "encrypted_content") ?? filledAt(reasoning.done, "encrypted_content");
  const latest = reasoning.done ?? item;
  const done =
    latest !== undefined && encrypted !== undefined
      ? { ...latest, encrypted_content: encrypted }
      : latest;
  const id = filledAt(done, "id") ?? reasoning.id;
  if (id !== reasoning.id && edit.book.after === reasoning.id) {
    edit.book = { ...edit.book, after: id };
  }
  const closed = last || encrypted !== undefined;
  const whole = wholeText(reasoning.source, done);
  // Text that was not streamed is shown now, even if the part stays open.
  const shown = reasoning.section === undefined && whole !== undefined;
  if (shown) edit.append(reasoning.partId, whole);
  const section = shown ? 0 : reasoning.section;
  edit.put(key, { ...reasoning, id, done, closed, section });
  if (!closed) return;
  edit.close(reasoning.partId, {
    whole,
    ...(done === undefined ? {} : { opaque: keepable(done) }),
  });
}

function wholeText(
  source: ReasoningSource | undefined,
  item: JsonObject | undefined,
): string | undefined {
  const summary = source === "content" ? "" : sections(item, "summary");
  const text = source === "summary" || summary !== "" ? summary : sections(item, "content");
  return text === "" ? undefined : text;
}

function sections(item: JsonObject | undefined, source: ReasoningSource): string {
  const texts = objectsField(item, source).map((section) => textAt(section, "text") ?? "");
  return texts.filter((text) => text !== "").join("\n\n");
}
