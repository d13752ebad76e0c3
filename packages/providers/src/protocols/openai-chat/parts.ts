import { partId } from "@millrace/core/model";
import type { Json, JsonObject } from "@millrace/core";
import type { Operation } from "../../protocol.ts";
import { chooseCallId } from "../call-id.ts";
import { extendArguments } from "./arguments.ts";
import { soundOf } from "./events.ts";
import { listDetails } from "./reasoning-details.ts";
import { noExtras } from "./state.ts";
import type { Call, Extras, JsonChain, OpenaiChatState, TextChannel } from "./state.ts";

/**
 * Begins and ends parts. Chunks do not mark the end of text or reasoning, so it ends when another
 * part begins. Each function takes a state, adds operations and returns the next state.
 */

/** DeepSeek and Kimi refuse a tool's result if the turn that called it lacks this field. */
export const bareField = "reasoning_content";

/**
 * Above this number of parts, reasoning no longer ends the text before it. A server that alternates
 * between the two with each token would exceed the part limit.
 */
const crowded = 200;

/** Appends text, in a new part if none of the same channel is open. */
export function appendText(
  state: OpenaiChatState,
  operations: Operation[],
  channel: TextChannel,
  chunk: string,
): OpenaiChatState {
  if (state.text?.channel === channel) {
    operations.push({ op: "append_text", partId: state.text.id, chunk });
    return state;
  }
  let next = beginPending(state, operations);
  next = closeText(closeReasoning(next, operations), operations);
  const id = partId(`p${next.parts + 1}`);
  operations.push({ op: "begin_part", partId: id, kind: "text" });
  operations.push({ op: "append_text", partId: id, chunk });
  return { ...next, parts: next.parts + 1, text: { id, channel } };
}

/** Appends reasoning. `field` is the field that it arrived in. */
export function appendReasoning(
  state: OpenaiChatState,
  operations: Operation[],
  field: string | undefined,
  chunk: string,
): OpenaiChatState {
  if (state.reasoning !== undefined) {
    operations.push({ op: "append_text", partId: state.reasoning.id, chunk });
    return state;
  }
  let next = beginPending(state, operations);
  if (next.parts < crowded) next = closeText(next, operations);
  const id = partId(`p${next.parts + 1}`);
  operations.push({ op: "begin_part", partId: id, kind: "reasoning" });
  operations.push({ op: "append_text", partId: id, chunk });
  return { ...next, parts: next.parts + 1, reasoning: { id, field }, bareReasoning: "filled" };
}

export function closeReasoning(state: OpenaiChatState, operations: Operation[]): OpenaiChatState {
  const { reasoning, details } = state;
  if (reasoning === undefined) return state;
  const list = listDetails(details);
  const { id, field } = reasoning;
  const opaque = soundOf<Json>(list.length > 0 ? { reasoning_details: list } : fieldOf(field));
  operations.push({
    op: "close_part",
    partId: id,
    ...(opaque === undefined ? {} : { opaque }),
  });
  return { ...state, reasoning: undefined, details: undefined };
}

function fieldOf(field: string | undefined): JsonObject | undefined {
  return field === undefined ? undefined : { field };
}

/**
 * Adds a reasoning part without text if the vendor requires one back: for encrypted details, or for
 * the bare field, which some vendors require in every turn that calls a tool.
 */
export function closeSilentReasoning(
  state: OpenaiChatState,
  operations: Operation[],
): OpenaiChatState {
  const isDemanded = state.bareReasoning === "empty" && state.tools.calls.length > 0;
  if (state.details === undefined && !isDemanded) return state;
  const id = partId(`p${state.parts + 1}`);
  operations.push({ op: "begin_part", partId: id, kind: "reasoning" });
  const begun = { ...state, parts: state.parts + 1, reasoning: { id, field: bareField } };
  return closeReasoning(begun, operations);
}

export function closeText(state: OpenaiChatState, operations: Operation[]): OpenaiChatState {
  const { text, extras } = state;
  if (text === undefined) return state;
  const labels = text.channel === "text" ? {} : { [text.channel]: true };
  const metadata = { ...labels, ...metadataOf(extras) };
  if (Object.keys(metadata).length > 0) {
    operations.push({ op: "set_metadata", partId: text.id, metadata });
  }
  operations.push({ op: "close_part", partId: text.id });
  return { ...state, text: undefined, extras: noExtras };
}

/** The extras of a text, without those that are too large or not plain. */
export function metadataOf(extras: Extras): JsonObject {
  if (extras === noExtras) return {};
  const { annotations, logprobs, citations, searchResults } = extras;
  const wanted: readonly (readonly [string, Json | undefined])[] = [
    ["annotations", listOfChain(annotations)],
    ["citations", citations],
    ["search_results", searchResults],
    ["logprobs", listOfChain(logprobs)],
  ];
  let metadata: JsonObject = {};
  for (const [name, value] of wanted) {
    if (value !== undefined) metadata = soundOf({ ...metadata, [name]: value }) ?? metadata;
  }
  return metadata;
}

function listOfChain(chain: JsonChain | undefined): readonly Json[] | undefined {
  if (chain === undefined) return undefined;
  const lists: (readonly Json[])[] = [];
  for (let node: JsonChain | undefined = chain; node !== undefined; node = node.before) {
    lists.push(node.items);
  }
  return lists.toReversed().flat();
}

/** The calls, including the current state of the active one. */
export function callsOf({ tools: { calls, active } }: OpenaiChatState): readonly Call[] {
  return active === undefined ? calls : calls.with(active.at, active);
}

/** Replaces a call and makes it the active one. */
export function withCall(state: OpenaiChatState, call: Call): OpenaiChatState {
  const { tools } = state;
  const { calls, active } = tools;
  if (active === undefined || active.at === call.at) {
    return { ...state, tools: { ...tools, active: call } };
  }
  // Not `with`, which is slower by half or more.
  const moved = calls.slice();
  moved[active.at] = active;
  return { ...state, tools: { ...tools, calls: moved, active: call } };
}

/**
 * Begins the calls whose name might have continued. Another part begins, so the name is complete.
 */
export function beginPending(state: OpenaiChatState, operations: Operation[]): OpenaiChatState {
  let next = state;
  for (const call of callsOf(state)) {
    if (call.partId === undefined && call.name !== "") next = beginCall(next, operations, call);
  }
  return next;
}

/** Begins a call with a name, and writes the arguments that arrived before it. */
export function beginCall(
  state: OpenaiChatState,
  operations: Operation[],
  call: Call,
): OpenaiChatState {
  let next = closeText(closeReasoning(state, operations), operations);
  const id = partId(`p${next.parts + 1}`);
  const callId = chooseCallId(call.given, next.tools.taken);
  const taken = new Set(next.tools.taken).add(callId);
  const tool = call.name.toWellFormed();
  operations.push({ op: "begin_part", partId: id, kind: "tool_call", callId, tool });
  if (call.custom) operations.push({ op: "append_text", partId: id, chunk: '{"input":"' });
  const begun = { ...call, partId: id, callId, early: "" };
  next = { ...next, parts: next.parts + 1, tools: { ...next.tools, taken } };
  return writeCall(next, operations, begun, call.early);
}

/** Appends argument text to a call that has begun. */
export function writeCall(
  state: OpenaiChatState,
  operations: Operation[],
  call: Call,
  text: string,
): OpenaiChatState {
  if (text === "" || call.partId === undefined) return withCall(state, call);
  const extended = extendArguments(call.arguments, text);
  // A custom tool takes plain text, which becomes the only field of a JSON object.
  const chunk = call.custom ? JSON.stringify(text).slice(1, -1) : extended.shown;
  if (chunk !== "") operations.push({ op: "append_text", partId: call.partId, chunk });
  return withCall(state, { ...call, arguments: extended.arguments });
}
