import { checkJson } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { Metadata } from "@millrace/core/writing";
import { restOf } from "../../reply.ts";
import type { CallStage } from "./call.ts";
import { filledAt, objectAt, textAt } from "../read.ts";
import { countField, objectsField, present } from "./events.ts";
import { noAnnotations } from "./state.ts";
import type { Content, Edit, ItemKey, MessageItem } from "./state.ts";

export function beginMessage(edit: Edit, key: ItemKey, item: JsonObject): MessageItem {
  const message: MessageItem = {
    kind: "message",
    id: filledAt(item, "id"),
    after: edit.book.after,
    closed: false,
    phase: filledAt(item, "phase"),
    contents: new Map(),
    before: undefined,
    done: undefined,
  };
  edit.put(key, message);
  return message;
}

/** Appends a delta whose part has not begun; `step` appends the others itself. */
export function appendToMessage(edit: Edit, key: ItemKey, data: JsonObject): void {
  const refusal = data["type"] === "response.refusal.delta";
  const delta = textAt(data, "delta") ?? "";
  if (delta !== "") edit.append(contentAt(edit, key, indexOf(data), refusal).partId, delta);
}

/** True for a content part of a message. Reasoning has content parts too. */
export function isMessageContent(data: JsonObject): boolean {
  const type = objectAt(data, "part")?.["type"];
  return type === "output_text" || type === "refusal";
}

/** Reads `content_part.added`, and the `.done` of a text, a refusal or a content part. */
export function noteContent(edit: Edit, key: ItemKey, data: JsonObject): void {
  const part = objectAt(data, "part") ?? data;
  const refusal = (filledAt(part, "type") ?? "").includes("refusal");
  const content = contentAt(edit, key, indexOf(data), refusal);
  if (data["type"] === "response.content_part.added") return;
  noteWhole(edit, key, indexOf(data), textAt(part, refusal ? "refusal" : "text"));
  const annotations = objectsField(part, "annotations");
  if (annotations.length > content.annotations.length) {
    change(edit, key, indexOf(data), { annotations: noAnnotations });
    for (const annotation of annotations) annotate(edit, key, indexOf(data), annotation);
  }
}

export function addAnnotation(edit: Edit, key: ItemKey, data: JsonObject): void {
  const annotation = objectAt(data, "annotation");
  contentAt(edit, key, indexOf(data), false);
  if (annotation !== undefined) annotate(edit, key, indexOf(data), annotation);
}

/**
 * Closes all parts of a message. `final` is its final form, if there is one. A part without a full
 * text stays open until the response ends, because its last deltas may be lost, and the response's
 * own list of items has the text.
 */
export function finishMessage(
  edit: Edit,
  key: ItemKey,
  final: JsonObject | undefined,
  stage: CallStage,
): void {
  for (const [index, part] of objectsField(final, "content").entries()) {
    const type = part["type"];
    if (type !== "output_text" && type !== "refusal") continue;
    contentAt(edit, key, index, type === "refusal");
    noteWhole(edit, key, index, textIn(part));
  }
  const message = messageAt(edit, key);
  if (message === undefined) return;
  const contents = [...message.contents.values()];
  if (stage === "item_done" && contents.some(({ whole }) => whole === undefined)) {
    edit.put(key, { ...message, done: final });
    return;
  }
  const item = message.done === undefined ? final : { ...message.done, ...final };
  const finals = objectsField(item, "content");
  const cut = stage === "incomplete" ? "incomplete" : "completed";
  for (const [index, content] of message.contents) {
    const status = filledAt(item, "status") ?? cut;
    const metadata = describeContent({ message, item, status }, content, finals[index]);
    edit.describe(content.partId, metadata);
    edit.close(content.partId, { whole: content.whole });
  }
  const phase = filledAt(item, "phase") ?? message.phase;
  const refused = contents.some(({ refusal }) => refusal);
  const facts = present({ phase, refusal: refused ? true : undefined });
  edit.book = { ...edit.book, facts: { ...edit.book.facts, ...facts } };
  edit.put(key, { ...message, phase, closed: true });
}

/**
 * Adds what the response's own list has of a message beyond its end: a part of its own, because the
 * message's parts are committed.
 */
export function extendMessage(edit: Edit, key: ItemKey, final: JsonObject): void {
  const message = messageAt(edit, key);
  if (message === undefined || message.id === undefined || message.id !== filledAt(final, "id"))
    return;
  for (const [index, part] of objectsField(final, "content").entries()) {
    const known = message.contents.get(index)?.whole;
    const whole = textIn(part);
    const rest = known === undefined ? undefined : restOf(known, whole ?? "");
    if (rest === undefined || rest.trim() === "") continue;
    const partId = edit.begin({ kind: "text" });
    edit.append(partId, rest);
    edit.close(partId);
  }
}

/** True if an item has the texts of a known message. */
export function sameTexts(message: MessageItem, item: JsonObject): boolean {
  const texts = [...message.contents.values()].map(({ whole = "" }) => whole);
  const others = objectsField(item, "content").map((part) => textIn(part) ?? "");
  return texts.length === others.length && texts.every((text, at) => text === others[at]);
}

function textIn(part: JsonObject): string | undefined {
  return textAt(part, part["type"] === "refusal" ? "refusal" : "text");
}

/** The metadata to send a message item back with. */
function describeContent(
  { message, item, status }: { message: MessageItem; item: JsonObject | undefined; status: string },
  content: Content,
  final: JsonObject | undefined,
): Metadata {
  const head = present({
    // The latest id: some gateways change the id with each event.
    item: filledAt(item, "id") ?? message.id,
    after: message.after,
    status,
    phase: filledAt(item, "phase") ?? message.phase,
    refusal: content.refusal ? true : undefined,
  });
  const given = objectsField(final, "annotations");
  const annotations: readonly Json[] = given.length > 0 ? given : content.annotations.toArray();
  const logprobs = objectsField(final, "logprobs");
  const full = {
    ...head,
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(logprobs.length > 0 ? { logprobs } : {}),
  };
  if (checkJson(full) === undefined) return full;
  return checkJson(head) === undefined ? head : {};
}

/** Records a full text. A later one may go on, or be the same one trimmed. */
function noteWhole(edit: Edit, key: ItemKey, index: number, given: string | undefined): void {
  const message = messageAt(edit, key);
  const known = message?.contents.get(index)?.whole;
  // Some servers omit the text in one of the events that repeat it.
  if (message === undefined || given === undefined || given === "") return;
  const whole = withoutBefore(message, index, given);
  const rest = restOf(known ?? "", whole);
  if (rest === undefined) {
    edit.fail("contradiction", "the vendor gave two full texts for one part", { key, index });
  } else if (rest !== "") change(edit, key, index, { whole: (known ?? "") + rest });
}

/** A full text without what the item had when it ended for the first time. */
function withoutBefore({ before }: MessageItem, index: number, whole: string): string {
  const ended = before?.kind === "message" ? before.contents.get(index)?.whole : undefined;
  return ended !== undefined && whole.startsWith(ended) ? whole.slice(ended.length) : whole;
}

function annotate(edit: Edit, key: ItemKey, index: number, annotation: Json): void {
  const annotations = messageAt(edit, key)?.contents.get(index)?.annotations ?? noAnnotations;
  change(edit, key, index, { annotations: annotations.append(annotation) });
}

function contentAt(edit: Edit, key: ItemKey, index: number, refusal: boolean): Content {
  const known = messageAt(edit, key)?.contents.get(index);
  if (known !== undefined) return known;
  const partId = edit.begin({ kind: "text" });
  const content: Content = { partId, refusal, whole: undefined, annotations: noAnnotations };
  change(edit, key, index, content);
  return content;
}

function change(edit: Edit, key: ItemKey, index: number, fields: Partial<Content>): void {
  const message = messageAt(edit, key);
  if (message === undefined) return;
  const content = { ...message.contents.get(index), ...fields } as Content;
  edit.put(key, { ...message, contents: new Map(message.contents).set(index, content) });
}

function messageAt(edit: Edit, key: ItemKey): MessageItem | undefined {
  const item = edit.book.items.get(key);
  return item?.kind === "message" ? item : undefined;
}

function indexOf(data: JsonObject): number {
  return countField(data, "content_index") ?? 0;
}
