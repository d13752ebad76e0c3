import type { JsonObject } from "@millrace/core";
import { isSound, objectAt, textAt } from "../read.ts";
import { startBlock } from "./blocks.ts";
import { indexOf, isBlank } from "./events.ts";
import { broken, noOperations, unknown, withBlock } from "./state.ts";
import type {
  AnthropicMessagesState,
  CallBlock,
  OpenBlock,
  OtherBlock,
  Outcome,
  TextBlock,
  ThinkingBlock,
} from "./state.ts";

/** The open block with this index; the newest one if there is no index, but none of ours. */
export function openBlock(
  { open }: AnthropicMessagesState,
  index: number | undefined,
): OpenBlock | undefined {
  const last = open.at(-1);
  if (last?.index === index) return last;
  if (index === undefined) return open.findLast((block) => block.index >= 0);
  return open.find((block) => block.index === index);
}

/** Adds one delta to its block. Text and arguments, nearly all deltas, copy no state. */
export function addDelta(state: AnthropicMessagesState, data: JsonObject): Outcome {
  const index = indexOf(data);
  const block = openBlock(state, index);
  const delta = objectAt(data, "delta");
  if (block === undefined) return addToNewBlock(state, index, delta);
  return delta === undefined ? unknown(state) : addTo(state, block, delta);
}

function addTo(state: AnthropicMessagesState, block: OpenBlock, delta: JsonObject): Outcome {
  switch (block.kind) {
    case "text":
      return addToText(state, block, delta);
    case "thinking":
      return addToThinking(state, block, delta);
    case "tool_use":
      return addToCall(state, block, delta);
    case "nameless":
      return { state, operations: noOperations };
    case "other":
      return addToOther(state, block, delta);
    default:
      return misplaced(state, delta);
  }
}

function addToText(
  state: AnthropicMessagesState,
  block: OpenBlock & TextBlock,
  delta: JsonObject,
): Outcome {
  const type = delta["type"];
  const chunk = delta["text"];
  if (type === "text_delta" && typeof chunk === "string") {
    return { state, operations: [{ op: "append_text", partId: block.partId, chunk }] };
  }
  if (type !== "citations_delta") return misplaced(state, delta);
  const citation = delta["citation"];
  if (citation === undefined || !isSound(citation)) return unknown(state);
  const citations = { citation, before: block.citations };
  return { state: withBlock(state, block, { ...block, citations }), operations: noOperations };
}

function addToThinking(
  state: AnthropicMessagesState,
  block: OpenBlock & ThinkingBlock,
  delta: JsonObject,
): Outcome {
  const type = delta["type"];
  const chunk = delta["thinking"];
  if (type === "thinking_delta" && typeof chunk === "string") {
    return { state, operations: [{ op: "append_text", partId: block.partId, chunk }] };
  }
  const piece = textAt(delta, "signature");
  if (type !== "signature_delta" || piece === undefined) return misplaced(state, delta);
  // Some servers split the signature, so pieces are joined. Others repeat all of it.
  if (piece === "" || piece === block.signature) return { state, operations: noOperations };
  const signature = block.signature + piece;
  return { state: withBlock(state, block, { ...block, signature }), operations: noOperations };
}

function addToCall(
  state: AnthropicMessagesState,
  block: OpenBlock & CallBlock,
  delta: JsonObject,
): Outcome {
  const chunk = delta["partial_json"];
  if (delta["type"] !== "input_json_delta" || typeof chunk !== "string") {
    return misplaced(state, delta);
  }
  const fills = !block.filled && !isBlank(chunk);
  return {
    state: fills ? withBlock(state, block, { ...block, filled: true }) : state,
    operations: chunk === "" ? noOperations : [{ op: "append_text", partId: block.partId, chunk }],
  };
}

/** For each delta type, the field to read and the field of the block to append to. */
const fields: ReadonlyMap<string, { readonly from: string; readonly to: string }> = new Map([
  ["input_json_delta", { from: "partial_json", to: "input" }],
  ["text_delta", { from: "text", to: "text" }],
  ["thinking_delta", { from: "thinking", to: "thinking" }],
  ["signature_delta", { from: "signature", to: "signature" }],
  ["compaction_delta", { from: "content", to: "content" }],
]);

function addToOther(
  state: AnthropicMessagesState,
  block: OpenBlock & OtherBlock,
  delta: JsonObject,
): Outcome {
  const type = textAt(delta, "type") ?? "";
  const field = fields.get(type);
  if (field === undefined) {
    const partial = { ...block, partial: true };
    return unknown(block.partial ? state : withBlock(state, block, partial));
  }
  const piece = textAt(delta, field.from) ?? "";
  const encrypted = textAt(delta, "encrypted_content");
  if (piece === "" && encrypted === undefined) return { state, operations: noOperations };
  const added = {
    ...block.added,
    ...(piece === "" ? {} : { [field.to]: (block.added[field.to] ?? "") + piece }),
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  };
  return { state: withBlock(state, block, { ...block, added }), operations: noOperations };
}

/** The blocks that a delta of text can begin, if the start of its block is missing. */
const begun: ReadonlyMap<string, string> = new Map([
  ["text_delta", "text"],
  ["thinking_delta", "thinking"],
]);

/** Begins the block of a delta that has none. A call can't begin so: its name would be missing. */
function addToNewBlock(
  state: AnthropicMessagesState,
  index: number | undefined,
  delta: JsonObject | undefined,
): Outcome {
  const type = begun.get(textAt(delta, "type") ?? "");
  if (type === undefined) {
    const lost = (textAt(delta, "partial_json") ?? "") !== "";
    const message = "arguments are for a block that is not open";
    return lost ? broken(state, message, { index: index ?? null }) : unknown(state);
  }
  const started = startBlock(state, index, { type });
  const block = started.state.open.at(-1);
  if (started.failure !== undefined || block === undefined) return started;
  const added = addTo(started.state, block, delta ?? {});
  return { ...added, operations: [...started.operations, ...added.operations] };
}

/**
 * Text or thinking in a block of another type goes to a block of its own, which the first such delta
 * begins. Arguments there would be lost, so they fail. Other deltas may be of a new type.
 */
function misplaced(state: AnthropicMessagesState, delta: JsonObject): Outcome {
  const type = textAt(delta, "type") ?? "";
  const given = type === "input_json_delta" ? textAt(delta, "partial_json") : undefined;
  if ((given ?? "") !== "") return broken(state, `${type} in a block of another type`);
  const kind = begun.get(type);
  if (kind === undefined || (textAt(delta, kind) ?? "") === "") return unknown(state);
  const own = state.open.find((open) => open.index < 0 && open.kind === kind);
  return own === undefined
    ? addToNewBlock(state, kind === "text" ? -1 : -2, delta)
    : addTo(state, own, delta);
}
