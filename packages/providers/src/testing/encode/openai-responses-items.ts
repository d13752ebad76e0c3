import type { JsonObject } from "@millrace/core";
import type { LogicalCall, LogicalPart, LogicalReasoning, LogicalText } from "../replies.ts";
import type { Random } from "../../../../../tests/kit/random.ts";
import { pieces } from "./weave.ts";

export interface ItemStyle {
  /** Omits some events that repeat a complete value. */
  readonly omitsRepeats: boolean;
  /** Encrypted reasoning is only in the last event of the reply. */
  readonly lateSecret: boolean;
  readonly obfuscated: boolean;
}

/** One item of the output: its events, and its final form. */
export interface ResponseItem {
  /**
   * The first events, until its content begins. They stay together even where items are
   * interleaved.
   */
  readonly lead: readonly JsonObject[];
  readonly events: readonly JsonObject[];
  readonly item: JsonObject;
}

interface Place {
  readonly at: number;
  readonly style: ItemStyle;
  /** True for the last item of a reply that the vendor cut. */
  readonly incomplete: boolean;
}

export function responseItem(part: LogicalPart, place: Place, random: Random): ResponseItem {
  switch (part.kind) {
    case "text":
      return textItem(part, place, random);
    case "reasoning":
      return reasoningItem(part, place, random);
    case "tool_call":
      return callItem(part, place, random);
    default:
      return part satisfies never;
  }
}

/** Events that stream one value in pieces. */
function streamed(
  text: string,
  { type, at, extra, style }: Streamed,
  random: Random,
): readonly JsonObject[] {
  const place = { item_id: itemId(type, at), output_index: at, ...extra };
  return pieces(text, random).map((delta): JsonObject => {
    const event = { type: `${type}.delta`, ...place, delta };
    return style.obfuscated ? { ...event, obfuscation: "Xw9" } : event;
  });
}

interface Streamed {
  readonly type: string;
  readonly at: number;
  readonly style: ItemStyle;
  readonly extra: JsonObject;
}

const prefixes: Readonly<Record<string, string>> = {
  "response.output_text": "msg",
  "response.reasoning_text": "rs",
  "response.reasoning_summary_text": "rs",
  "response.function_call_arguments": "fc",
};

function itemId(type: string, at: number): string {
  return `${prefixes[type] ?? ""}_67c9fdcf37fc8190ba82116e33fb28c507b8b0ad4e5e${at}`;
}

function added(at: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.added", output_index: at, item };
}

function done(at: number, item: JsonObject): JsonObject {
  return { type: "response.output_item.done", output_index: at, item };
}

function textItem(
  part: LogicalText,
  { at, style, incomplete }: Place,
  random: Random,
): ResponseItem {
  const type = "response.output_text";
  const id = itemId(type, at);
  const content = { type: "output_text", annotations: [], logprobs: [], text: part.text };
  const message = { id, type: "message", role: "assistant" };
  const item = { ...message, status: incomplete ? "incomplete" : "completed", content: [content] };
  if (random.chance(0.03)) return { lead: [done(at, item)], events: [], item };
  const place = { item_id: id, output_index: at, content_index: 0 };
  const extra = { content_index: 0, logprobs: [] };
  const keep = (): boolean => !style.omitsRepeats || random.chance(0.5);
  const deltas = streamed(part.text, { type, at, extra, style }, random);
  const lead: readonly JsonObject[] = [
    added(at, { ...message, status: "in_progress", content: [] }),
    { type: "response.content_part.added", ...place, part: { ...content, text: "" } },
  ];
  const events: readonly JsonObject[] = [
    ...(random.chance(0.03) ? [] : deltas),
    ...(keep() ? [{ type: `${type}.done`, ...place, text: part.text, logprobs: [] }] : []),
    ...(keep() ? [{ type: "response.content_part.done", ...place, part: content }] : []),
    done(at, item),
  ];
  return { lead, events, item };
}

/** A summary in one or several parts, or the reasoning itself as open models show it. */
function reasoningItem(part: LogicalReasoning, { at, style }: Place, random: Random): ResponseItem {
  const open = random.chance(0.25);
  const type = open ? "response.reasoning_text" : "response.reasoning_summary_text";
  const id = itemId(type, at);
  const texts = part.text === "" ? [] : open ? [part.text] : paragraphs(part.text, random);
  const shown = texts.map((text) => ({ type: open ? "reasoning_text" : "summary_text", text }));
  const bare: JsonObject = open
    ? { id, type: "reasoning", summary: [], content: shown }
    : { id, type: "reasoning", summary: shown };
  const secret: JsonObject =
    part.signature === undefined ? {} : { encrypted_content: part.signature };
  const item = { ...bare, ...secret };
  const key = open ? "content_index" : "summary_index";
  const added_ = open ? "response.content_part.added" : "response.reasoning_summary_part.added";
  const done_ = open ? "response.content_part.done" : "response.reasoning_summary_part.done";
  const first = { id, type: "reasoning", summary: [], ...(random.chance(0.3) ? secret : {}) };
  const events: JsonObject[] = [];
  for (const [index, shownPart] of shown.entries()) {
    const place = { item_id: id, output_index: at, [key]: index };
    const extra = { [key]: index };
    const keep = (): boolean => !style.omitsRepeats || random.chance(0.5);
    if (keep()) events.push({ type: added_, ...place, part: { ...shownPart, text: "" } });
    events.push(...streamed(shownPart.text, { type, at, extra, style }, random));
    if (keep()) events.push({ type: `${type}.done`, ...place, text: shownPart.text });
    if (keep()) events.push({ type: done_, ...place, part: shownPart });
  }
  events.push(done(at, style.lateSecret ? bare : item));
  return { lead: [added(at, first)], events, item };
}

/** The parts of a summary. The decoder joins them with blank lines. */
function paragraphs(text: string, random: Random): readonly string[] {
  const split = text.split("\n\n");
  return split.includes("") || random.chance(0.3) ? [text] : split;
}

function callItem(call: LogicalCall, { at, style }: Place, random: Random): ResponseItem {
  const type = "response.function_call_arguments";
  const id = itemId(type, at);
  const bare = { id, type: "function_call", call_id: call.id, name: call.tool };
  const whole = call.input !== undefined;
  const item = { ...bare, arguments: call.raw, status: whole ? "completed" : "incomplete" };
  if (whole && random.chance(0.05)) return { lead: [done(at, item)], events: [], item };
  const place = { item_id: id, output_index: at };
  const deltas = streamed(call.raw, { type, at, extra: {}, style }, random);
  const end = { type: `${type}.done`, ...place, name: call.tool, arguments: call.raw };
  // One of the two must prove that the arguments are complete.
  const left = style.omitsRepeats ? random.below(2) : 2;
  const lead = [added(at, { ...bare, arguments: "", status: "in_progress" })];
  const events: readonly JsonObject[] = [
    ...(whole && random.chance(0.05) ? [] : deltas),
    ...(whole && left !== 0 ? [end] : []),
    ...(left !== 1 || !whole ? [done(at, item)] : []),
  ];
  return { lead, events, item };
}
