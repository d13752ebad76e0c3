import { encodeBase64, isJsonObject } from "@millrace/core/json";
import type {
  CustomPart,
  FilePart,
  Json,
  JsonObject,
  MediaPart,
  ReasoningPart,
  TextPart,
  ToolCallPart,
} from "@millrace/core";
import type { Answer, ModelTurn } from "../prepare.ts";
import { filledAt, objectAt } from "../read.ts";
import { isTranscribed } from "../moved-media.ts";
import { objectsField, present, typeOf } from "./events.ts";
import { nativeExchange } from "./request-native.ts";
import type { NativeExchange } from "./request-native.ts";

/** State shared by all turns of one request. */
export interface Replay {
  /** The model that the request is for. */
  readonly model: string;
  /** True if the vendor stores its items, so that an id is enough. */
  readonly stored: boolean;
  /** Ids of items already in the request: the vendor refuses duplicates. */
  readonly used: Set<string>;
  /** Calls of tools that take free text. Their results have another type. */
  readonly customCalls: Set<string>;
  /** The names of the vendor's own tools that are offered. */
  readonly offered: { readonly has: (name: string) => boolean };
  readonly answers: ReadonlyMap<string, Answer>;
  /** Calls that were sent as the vendor's own items. Their answers are such items too. */
  readonly natives: Map<string, NativeExchange>;
}

/**
 * One item of a turn to send back. The vendor refuses reasoning without the item that followed it,
 * and an item with an id without the reasoning before it, so both are sent together or not at all.
 */
interface Entry {
  /** The vendor's item with its id, or undefined if it can't be sent that way. */
  readonly whole: JsonObject | undefined;
  readonly id: string | undefined;
  /** The id of the reasoning item before it. */
  readonly after: string | undefined;
  readonly reasoning: boolean;
  /** The items to send if `whole` can't be. */
  readonly plain: readonly JsonObject[];
  /** The call, if `whole` is an item of one of the vendor's own tools. */
  readonly native?: { readonly callId: string; readonly exchange: NativeExchange };
}

/** Converts a model turn to input items. */
export function modelItems(turn: ModelTurn, replay: Replay): readonly JsonObject[] {
  const entries = entriesOf(turn, replay);
  const kept = new Set<string>();
  let next: Entry | undefined;
  for (const entry of entries.toReversed()) {
    const followed = next?.whole !== undefined && (!next.reasoning || kept.has(next.id ?? ""));
    if (entry.reasoning && entry.whole !== undefined && followed) kept.add(entry.id ?? "");
    next = entry;
  }
  return entries.flatMap((entry) => {
    const { whole, id, after, plain } = entry;
    const sound = entry.reasoning ? kept.has(id ?? "") : after === undefined || kept.has(after);
    if (whole === undefined || !sound) return plain;
    if (id !== undefined) replay.used.add(id);
    if (entry.native !== undefined) {
      replay.natives.set(entry.native.callId, entry.native.exchange);
    }
    return [whole];
  });
}

function entriesOf({ parts, native }: ModelTurn, replay: Replay): readonly Entry[] {
  const entries: Entry[] = [];
  const seen = new Set(replay.used);
  const pictures = new Map<string, MediaPart>();
  for (const part of parts) {
    const item = part.kind === "media" ? filledAt(part.metadata, "item") : undefined;
    if (native && part.kind === "media" && item !== undefined) pictures.set(item, part);
  }
  const add = (entry: Entry): void => {
    // A duplicate id can't be sent.
    const doubled = entry.id !== undefined && seen.has(entry.id);
    entries.push(doubled ? { ...entry, whole: undefined } : entry);
    if (entry.id !== undefined) seen.add(entry.id);
  };
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at];
    if (part?.kind === "text") {
      const texts = messageFrom(parts, at);
      at += texts.length - 1;
      add(messageEntry(texts, native));
    } else if (part?.kind === "reasoning") add(reasoningEntry(part, replay.stored));
    else if (part?.kind === "tool_call") add(callEntry(part, native, replay));
    else if (part?.kind === "custom") add(hostedEntry(part, parts, pictures));
  }
  return entries;
}

/** Images are sent back inside their items, and sound as its transcript. */
export function keepsMedia(part: MediaPart | FilePart, turn: ModelTurn): boolean {
  if (!turn.native || part.kind !== "media") return false;
  const item = part.metadata?.["item"];
  const isInItem = turn.parts.some(
    (each) => each.kind === "custom" && isJsonObject(each.value) && each.value["id"] === item,
  );
  return (item !== undefined && isInItem) || isTranscribed(part, turn);
}

/** The text parts from `start` that belong to one message of the vendor. */
function messageFrom(parts: ModelTurn["parts"], start: number): readonly TextPart[] {
  const texts: TextPart[] = [];
  for (const part of parts.slice(start)) {
    const item = part.kind === "text" ? part.metadata?.["item"] : undefined;
    const first = texts[0];
    if (part.kind !== "text") break;
    if (first !== undefined && (item === undefined || item !== first.metadata?.["item"])) break;
    texts.push(part);
  }
  return texts;
}

function messageEntry(texts: readonly TextPart[], native: boolean): Entry {
  const metadata = native ? texts[0]?.metadata : undefined;
  const filled = texts.filter(({ text }) => text !== "");
  const phase = phaseOf(metadata);
  const plain = filled
    .filter(({ text }) => text.trim() !== "")
    .flatMap(({ text }) => plainMessage(text, phase).plain);
  const given = filledAt(metadata, "item");
  const id = legalItemId(given, "msg");
  const entry: Entry = {
    whole: undefined,
    id,
    after: filledAt(metadata, "after"),
    reasoning: false,
    plain,
  };
  const [only, ...more] = plain;
  // A vendor that sent no id accepts an item without one. If it sent an unusable id, that is
  // uncertain.
  if (metadata !== undefined && given === undefined && more.length === 0) {
    return { ...entry, whole: only };
  }
  if (filled.length === 0 || id === undefined) return entry;
  const whole = {
    type: "message",
    id,
    role: "assistant",
    status: metadata?.["status"] === "incomplete" ? "incomplete" : "completed",
    content: filled.map(contentOf),
    ...phase,
  };
  return { ...entry, whole };
}

function contentOf({ text, metadata }: TextPart): JsonObject {
  if (metadata?.["refusal"] === true) return { type: "refusal", refusal: text };
  return { type: "output_text", text, annotations: objectsField(metadata, "annotations") };
}

function phaseOf(metadata: JsonObject | undefined): { readonly phase?: string } {
  const phase = filledAt(metadata, "phase");
  return phase === "commentary" || phase === "final_answer" ? { phase } : {};
}

/** A text of the model, as a message without an id. */
function plainMessage(text: string, phase: { readonly phase?: string } = {}): Entry {
  const plain = [{ type: "message", role: "assistant", content: text, ...phase }];
  return { whole: undefined, id: undefined, after: undefined, reasoning: false, plain };
}

/**
 * Encrypted reasoning is sent back unchanged. Readable reasoning is sent only without encrypted
 * content, as servers of open models have it: the vendor refuses both together.
 */
function reasoningEntry({ opaque }: ReasoningPart, stored: boolean): Entry {
  const item = isJsonObject(opaque) ? opaque : undefined;
  const id = legalItemId(filledAt(item, "id"), "rs");
  const encrypted = filledAt(item, "encrypted_content");
  const content = encrypted === undefined ? sectionsOf(item, "content", "reasoning_text") : [];
  const entry: Entry = { whole: undefined, id, after: undefined, reasoning: true, plain: [] };
  if (id === undefined || !(stored || encrypted !== undefined || content.length > 0)) return entry;
  const whole = {
    type: "reasoning",
    id,
    summary: sectionsOf(item, "summary", "summary_text"),
    ...(content.length > 0 ? { content } : {}),
    ...present({ encrypted_content: encrypted }),
  };
  return { ...entry, whole };
}

function sectionsOf(
  item: JsonObject | undefined,
  key: string,
  type: string,
): readonly JsonObject[] {
  return objectsField(item, key).flatMap(({ text }) =>
    typeof text === "string" ? [{ type, text }] : [],
  );
}

function callEntry(call: ToolCallPart, native: boolean, replay: Replay): Entry {
  const opaque = native && isJsonObject(call.opaque) ? call.opaque : undefined;
  const { callId } = call;
  const exchange =
    opaque === undefined ? undefined : nativeExchange(call, replay.answers.get(callId), replay);
  if (exchange !== undefined) {
    const { item } = exchange;
    const known = legalItemId(filledAt(item, "id"), hostedPrefixes.get(typeOf(item)) ?? "");
    const after = filledAt(opaque, "after");
    const plain = [functionCall(call)];
    const entry = { id: known, after, reasoning: false, plain } as const;
    if (known === undefined) return { ...entry, whole: undefined };
    return { ...entry, whole: item, native: { callId, exchange } };
  }
  const custom = opaque?.["type"] === "custom_tool_call";
  if (custom) replay.customCalls.add(call.callId);
  const id = legalItemId(filledAt(opaque, "id"), custom ? "ctc" : "fc");
  const shape: JsonObject = custom
    ? { type: "custom_tool_call", call_id: call.callId, name: call.tool, input: textInput(call) }
    : functionCall(call);
  const extras = present({
    namespace: filledAt(opaque, "namespace"),
    caller: objectAt(opaque, "caller"),
  });
  const plain = { ...shape, ...extras };
  const nameless = opaque !== undefined && opaque["id"] === undefined;
  const whole = id === undefined ? (nameless ? plain : undefined) : { ...plain, id };
  return { whole, id, after: filledAt(opaque, "after"), reasoning: false, plain: [plain] };
}

function functionCall(call: ToolCallPart): JsonObject {
  return {
    type: "function_call",
    call_id: call.callId,
    name: call.tool,
    arguments: rawOf(call),
  };
}

/** Faulty arguments are sent as `{}`: the answer to the call describes the fault. */
function rawOf(call: ToolCallPart): string {
  if (call.fault !== undefined) return "{}";
  return call.raw.trim() === "" ? "{}" : call.raw;
}

function textInput(call: ToolCallPart): string {
  const input: Json | undefined = call.input?.["input"];
  return typeof input === "string" ? input : "";
}

/** An item that the vendor ran, if it is finished and has its counterpart. */
function hostedEntry(
  { name, value, metadata }: CustomPart,
  parts: ModelTurn["parts"],
  pictures: ReadonlyMap<string, MediaPart>,
): Entry {
  const after = filledAt(metadata, "after");
  const given = isJsonObject(value) ? filledAt(value, "id") : undefined;
  const id = legalItemId(given, hostedPrefixes.get(name) ?? "");
  const entry: Entry = { whole: undefined, id, after, reasoning: false, plain: [] };
  if (!isJsonObject(value) || id === undefined || value["type"] !== name) return entry;
  if ("omitted" in value || !isFinished(value) || !isAnswered(value, parts)) return entry;
  if (name !== "image_generation_call") return { ...entry, whole: withoutAuthor(value) };
  const picture = pictures.get(id);
  if (picture?.bytes === undefined || picture.bytes.length === 0) return entry;
  // The vendor takes back only the image, not how it was made.
  const result = encodeBase64(picture.bytes);
  return { ...entry, whole: { type: name, id, status: "completed", result } };
}

function isFinished({ status }: JsonObject): boolean {
  return status === undefined || status === null || status === "completed" || status === "failed";
}

/** The vendor refuses a call item without its output, and an output without its call. */
function isAnswered(value: JsonObject, parts: ModelTurn["parts"]): boolean {
  if (value["type"] === "mcp_approval_request") return false;
  const callId = value["call_id"];
  if (typeof callId !== "string") return true;
  const isOutput = (item: JsonObject): boolean => typeOf(item).endsWith("_output");
  return parts.some(
    (part) =>
      part.kind === "custom" &&
      isJsonObject(part.value) &&
      part.value["call_id"] === callId &&
      isOutput(part.value) !== isOutput(value) &&
      isFinished(part.value),
  );
}

/** Removes the author fields, which the vendor writes and refuses in a request. */
function withoutAuthor(value: JsonObject): JsonObject {
  const { created_by: _, agent: __, ...item } = value;
  const output = item["output"];
  if (!Array.isArray(output)) return item;
  return {
    ...item,
    output: output.map((entry: Json) => {
      if (!isJsonObject(entry)) return entry;
      const { created_by: ___, ...rest } = entry;
      return rest;
    }),
  };
}

/** The id if the vendor accepts it: short, and with the prefix of its item type. */
function legalItemId(id: string | undefined, prefix: string): string | undefined {
  const legal = id !== undefined && /^[a-zA-Z0-9_-]{1,64}$/.test(id) && id.startsWith(prefix);
  return legal ? id : undefined;
}

/** Id prefixes of the vendor's own items that it checks. */
const hostedPrefixes: ReadonlyMap<string, string> = new Map([
  ["web_search_call", "ws"],
  ["file_search_call", "fs"],
  ["code_interpreter_call", "ci"],
  ["image_generation_call", "ig"],
  ["computer_call", "cu"],
  ["mcp_call", "mcp"],
  ["mcp_list_tools", "mcp"],
  ["mcp_approval_request", "mcpr"],
  ["compaction", "cmp"],
]);
