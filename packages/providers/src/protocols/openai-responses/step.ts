import { isJsonObject } from "@millrace/core/json";
import type { JsonObject, PartId } from "@millrace/core";
import type { VendorEvent } from "../../framing/framing.ts";
import type { Operation, Translated } from "../../protocol.ts";
import { appendAudio, appendTranscript, closeAudio, closeTranscript } from "./audio.ts";
import { appendArguments, noteArguments } from "./call.ts";
import { typeOf } from "./events.ts";
import { noteProgress, noteWritten } from "./hosted.ts";
import { addItem, beginItem, endItem, kindOf } from "./items.ts";
import { addAnnotation, appendToMessage, isMessageContent, noteContent } from "./message.ts";
import { addCommand, appendCommand, appendDiff } from "./native.ts";
import { namesOf, newPlace, placeOf } from "./places.ts";
import { appendReasoning } from "./reasoning.ts";
import { orderOf } from "./sequence.ts";
import { Edit } from "./state.ts";
import type { Book, ItemKey, ResponsesState } from "./state.ts";
import { beginResponse, endResponse, noteResponse, reportError } from "./terminal.ts";

const nothing: readonly Operation[] = [];

export function step(state: ResponsesState, event: VendorEvent): Translated<ResponsesState> {
  const data = typed(event);
  if (data === undefined) return { state, operations: nothing, sign: "over" };
  const number = data["sequence_number"];
  const order = number === state.sequence + 1 ? number : orderOf(state, data);
  if (order === "repeated") return { state, operations: nothing, sign: "alive" };
  // Not so before the first number, which makes the sum NaN.
  const skipped = order > state.sequence + 1 && order !== Infinity;
  const partId = skipped ? undefined : appendTarget(state.book, data);
  if (partId !== undefined) {
    const operations = [{ op: "append_text", partId, chunk: data["delta"] as string } as const];
    if (Object.is(order, state.sequence)) return { state, operations };
    return { state: { sequence: order, last: data, book: state.book }, operations };
  }
  const edit = new Edit(skipped ? withGap(state.book) : state.book);
  perform(edit, data);
  const { book, operations, sign } = edit;
  const next = { sequence: order, last: data, book };
  if (edit.failure !== undefined) return { state: next, operations, failure: edit.failure };
  return sign === undefined ? { state: next, operations } : { state: next, operations, sign };
}

/**
 * The part of a delta that changes nothing but its part: text, and arguments after the first. The
 * fast path, because nearly all deltas are such.
 */
function appendTarget(book: Book, data: JsonObject): PartId | undefined {
  if (book.shared !== undefined) return undefined;
  const type = data["type"];
  if (type === "response.output_text.delta") {
    const item = book.items.get(data["output_index"] as number);
    if (item?.kind !== "message" || item.closed || typeof data["delta"] !== "string")
      return undefined;
    return item.contents.get(data["content_index"] as number)?.partId;
  }
  if (type !== "response.function_call_arguments.delta") return undefined;
  const item = book.items.get(data["output_index"] as number);
  if (item?.kind !== "call" || item.closed || typeof data["delta"] !== "string") return undefined;
  return item.filled && !item.custom ? item.partId : undefined;
}

/** The event's JSON with its type, which some servers send in the `event:` field only. */
function typed({ name, data }: VendorEvent): JsonObject | undefined {
  return data === undefined || typeof data["type"] === "string" ? data : { ...data, type: name };
}

/** Marks a reply whose numbers have a gap. It may be complete: only its full texts show that. */
function withGap(book: Book): Book {
  if (book.facts["sequence_gap"] === true) return book;
  return { ...book, facts: { ...book.facts, sequence_gap: true } };
}

type Handler = (edit: Edit, data: JsonObject) => void;

function perform(edit: Edit, data: JsonObject): void {
  const handler = handlers.get(typeOf(data));
  const error = data["error"];
  if (handler !== undefined) handler(edit, data);
  else if (isJsonObject(error) || typeof error === "string") reportError(edit, data);
  else edit.sign = "unknown";
}

/**
 * A handler for events of an item. `type` begins the item if the event is the first of it, or if the
 * place is that of an item that has ended under another id.
 */
function within(
  change: (edit: Edit, key: ItemKey, data: JsonObject) => void,
  type?: string,
): Handler {
  const kind = kindOf({ type: type ?? "" });
  return (edit, data) => {
    const found = placeOf(edit.book, data, kind);
    const known = found === undefined ? undefined : edit.book.items.get(found);
    if (found !== undefined && known?.closed === false) {
      change(edit, found, data);
      return;
    }
    const { id } = namesOf(data);
    // What an ended item repeats changes nothing.
    if (type === undefined || (known !== undefined && !typeOf(data).endsWith(".delta"))) return;
    const isSame = known !== undefined && (id === undefined || id === known.id);
    if (isSame && known.kind === "call") {
      edit.fail("contradiction", "arguments came after their call's end", { key: found ?? null });
      return;
    }
    const key = newPlace(edit, data);
    const item = beginItem(edit, key, id === undefined ? { type } : { type, id });
    // Some gateways end a message after its first delta and go on.
    if (isSame && item.kind === "message") edit.put(key, { ...item, before: known });
    change(edit, key, data);
  };
}

/** A handler for events of an item that is a call of one of the vendor's own tools. */
function ofNative(change: (edit: Edit, key: ItemKey, data: JsonObject) => void): Handler {
  return (edit, data) => {
    const key = placeOf(edit.book, data, "native");
    if (key !== undefined) change(edit, key, data);
  };
}

const pass: Handler = () => undefined;
const alive: Handler = (edit, data) => {
  noteResponse(edit, data);
  edit.sign = "alive";
};
const reasoning = within(appendReasoning, "reasoning");
const progress = within(noteProgress);
const written = within(noteWritten);

const messageContent = within(noteContent, "message");
const contentPart: Handler = (edit, data) => {
  if (isMessageContent(data)) messageContent(edit, data);
};

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["response.created", beginResponse],
  ["response.queued", alive],
  ["response.in_progress", alive],
  ["response.completed", endResponse],
  ["response.incomplete", endResponse],
  ["response.failed", endResponse],
  ["error", reportError],
  ["keepalive", alive],
  ["ping", alive],
  ["response.output_item.added", addItem],
  ["response.output_item.done", endItem],
  ["response.content_part.added", contentPart],
  ["response.content_part.done", contentPart],
  ["response.output_text.delta", within(appendToMessage, "message")],
  ["response.output_text.done", messageContent],
  ["response.output_text.annotation.added", within(addAnnotation, "message")],
  ["response.refusal.delta", within(appendToMessage, "message")],
  ["response.refusal.done", messageContent],
  ["response.reasoning_summary_part.added", pass],
  ["response.reasoning_summary_part.done", reasoning],
  ["response.reasoning_summary_text.delta", reasoning],
  ["response.reasoning_summary_text.done", reasoning],
  ["response.reasoning_text.delta", reasoning],
  ["response.reasoning_text.done", reasoning],
  ["response.function_call_arguments.delta", within(appendArguments, "function_call")],
  ["response.function_call_arguments.done", within(noteArguments, "function_call")],
  ["response.custom_tool_call_input.delta", within(appendArguments, "custom_tool_call")],
  ["response.custom_tool_call_input.done", within(noteArguments, "custom_tool_call")],
  ["response.mcp_call_arguments.delta", pass],
  ["response.mcp_call_arguments.done", written],
  ["response.code_interpreter_call_code.delta", pass],
  ["response.code_interpreter_call_code.done", written],
  // An unfinished image is not content: the finished one arrives with its item.
  ["response.image_generation_call.partial_image", pass],
  ["response.shell_call_command.added", ofNative(addCommand)],
  ["response.shell_call_command.delta", ofNative(appendCommand)],
  ["response.shell_call_command.done", pass],
  ["response.shell_call_output_content.delta", pass],
  ["response.shell_call_output_content.done", pass],
  ["response.apply_patch_call_operation_diff.delta", ofNative(appendDiff)],
  ["response.apply_patch_call_operation_diff.done", pass],
  ["response.audio.delta", appendAudio],
  ["response.audio.done", closeAudio],
  ["response.audio.transcript.delta", appendTranscript],
  ["response.audio.transcript.done", closeTranscript],
  ...[
    "compaction.compacting",
    "mcp_call.in_progress",
    "mcp_call.completed",
    "mcp_call.failed",
    "mcp_list_tools.in_progress",
    "mcp_list_tools.completed",
    "mcp_list_tools.failed",
    "web_search_call.in_progress",
    "web_search_call.searching",
    "web_search_call.completed",
    "file_search_call.in_progress",
    "file_search_call.searching",
    "file_search_call.completed",
    "code_interpreter_call.in_progress",
    "code_interpreter_call.interpreting",
    "code_interpreter_call.completed",
    "image_generation_call.in_progress",
    "image_generation_call.generating",
    "image_generation_call.completed",
  ].map((type): [string, Handler] => [`response.${type}`, progress]),
]);
