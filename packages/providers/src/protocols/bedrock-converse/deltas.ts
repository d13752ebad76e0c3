import { decodeBase64, isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { isSound, objectAt, textAt } from "../read.ts";
import { begin, indexOf, openBlock } from "./blocks.ts";
import { broken, noOperations, unknown, withBlock } from "./state.ts";
import type { BedrockConverseState, BlockContent, OpenBlock, Outcome } from "./state.ts";

/** Adds one delta to its block, which it begins if need be. Text and arguments copy no state. */
export function addDelta(state: BedrockConverseState, data: JsonObject): Outcome {
  const delta = objectAt(data, "delta");
  if (delta === undefined) return unknown(state);
  const index = indexOf(data);
  const block = openBlock(state, index);
  const text = delta["text"];
  if (typeof text === "string") return addText(state, { index, block, kind: "text" }, text);
  const [name] = Object.keys(delta);
  const place = { index, block };
  switch (name) {
    case "toolUse":
      return addInput(state, place, objectAt(delta, name));
    case "reasoningContent":
      return addReasoning(state, place, objectAt(delta, name) ?? {});
    case "citation":
      return addCitation(state, place, delta[name] ?? null);
    case "image":
      return addImage(state, place, objectAt(delta, name));
    case "toolResult":
      return addResult(state, place, delta[name] ?? null);
    default:
      return unknown(withPartial(state, block));
  }
}

interface Place {
  readonly index: number | undefined;
  readonly block: OpenBlock | undefined;
}

function addText(
  state: BedrockConverseState,
  { index, block, kind }: Place & { readonly kind: "text" | "reasoning" },
  chunk: string,
): Outcome {
  if (block?.kind === kind) {
    return { state, operations: [{ op: "append_text", partId: block.partId, chunk }] };
  }
  // Some models begin or end every block with an empty text. A call that was left out is left out whole.
  if (chunk === "" || block?.kind === "nameless") return { state, operations: noOperations };
  return began(state, { index, block }, emptyBlock(kind), (begun, open) => ({
    state: begun,
    operations: [{ op: "append_text", partId: open.partId, chunk }],
  }));
}

function emptyBlock(kind: "text" | "reasoning"): BlockContent {
  return kind === "text" ? { kind, citations: undefined } : { kind, signature: "" };
}

/** Begins a block for a delta that has none of its kind, and adds the delta to it. */
function began(
  state: BedrockConverseState,
  { index }: Place,
  content: BlockContent,
  add: (state: BedrockConverseState, block: OpenBlock) => Outcome,
): Outcome {
  const kind = content.kind === "text" ? "text" : "reasoning";
  const started = begin(state, index, { kind }, content);
  const block = started.state.open.at(-1);
  if (started.failure !== undefined || block === undefined) return started;
  const added = add(started.state, block);
  return { ...added, operations: [...started.operations, ...added.operations] };
}

function addReasoning(state: BedrockConverseState, place: Place, delta: JsonObject): Outcome {
  const { text, signature, redactedContent } = delta as Readonly<Record<string, Json>>;
  if (typeof text === "string") return addText(state, { ...place, kind: "reasoning" }, text);
  if (typeof signature === "string") return addSignature(state, place, signature);
  if (typeof redactedContent === "string") return addRedacted(state, place, redactedContent);
  return unknown(state);
}

function addSignature(state: BedrockConverseState, place: Place, piece: string): Outcome {
  const { block } = place;
  if (block?.kind !== "reasoning") {
    return began(state, place, { kind: "reasoning", signature: piece }, (begun) => ({
      state: begun,
      operations: noOperations,
    }));
  }
  // Some servers split the signature, so pieces are joined. Others repeat all of it.
  if (piece === "" || piece === block.signature) return { state, operations: noOperations };
  const signature = block.signature + piece;
  return { state: withBlock(state, block, { ...block, signature }), operations: noOperations };
}

/** Bytes that are cut anywhere, each piece in a base64 of its own. */
function addRedacted(state: BedrockConverseState, place: Place, piece: string): Outcome {
  const value = decodeBase64(piece);
  if (value === undefined) return broken(state, "redacted reasoning is no base64");
  const { block } = place;
  const before = block?.kind === "redacted" ? block.bytes : undefined;
  const bytes = { value, before };
  if (block?.kind === "redacted") {
    return { state: withBlock(state, block, { ...block, bytes }), operations: noOperations };
  }
  return began(state, place, { kind: "redacted", bytes }, (begun) => ({
    state: begun,
    operations: noOperations,
  }));
}

function addInput(
  state: BedrockConverseState,
  { block }: Place,
  delta: JsonObject | undefined,
): Outcome {
  const chunk = textAt(delta, "input") ?? "";
  if (block?.kind === "nameless" || chunk === "") return { state, operations: noOperations };
  if (block?.kind === "own" && block.name === "toolUse") {
    const input = { value: chunk, before: block.input };
    return { state: withBlock(state, block, { ...block, input }), operations: noOperations };
  }
  if (block?.kind !== "call") return broken(state, "arguments are for a block that is no call");
  const fills = !block.filled && chunk.trim() !== "";
  return {
    state: fills ? withBlock(state, block, { ...block, filled: true }) : state,
    operations: [{ op: "append_text", partId: block.partId, chunk }],
  };
}

function addCitation(state: BedrockConverseState, place: Place, citation: Json): Outcome {
  if (!isSound(citation)) return unknown(state);
  const { block } = place;
  if (block?.kind === "text") {
    const citations = { value: citation, before: block.citations };
    return { state: withBlock(state, block, { ...block, citations }), operations: noOperations };
  }
  const citations = { value: citation, before: undefined };
  return began(state, place, { kind: "text", citations }, (begun) => ({
    state: begun,
    operations: noOperations,
  }));
}

function addImage(
  state: BedrockConverseState,
  { block }: Place,
  delta: JsonObject | undefined,
): Outcome {
  const data = textAt(objectAt(delta, "source"), "bytes");
  if (block?.kind !== "image" || data === undefined) return unknown(state);
  const chunk = decodeBase64(data);
  if (chunk === undefined) return broken(state, "the data of an image is no base64");
  return { state, operations: [{ op: "append_bytes", partId: block.partId, chunk }] };
}

/** Adds to the result of a tool that the vendor runs. A delta is a piece, or a list of them. */
function addResult(state: BedrockConverseState, { block }: Place, delta: Json): Outcome {
  if (block?.kind !== "own" || block.name !== "toolResult") return unknown(state);
  const pieces = (Array.isArray(delta) ? (delta as readonly Json[]) : [delta]).filter(isJsonObject);
  let content = block.content;
  for (const value of pieces) content = { value, before: content };
  return { state: withBlock(state, block, { ...block, content }), operations: noOperations };
}

/** Notes that a block of an unknown type lacks something, so that it is not sent back. */
function withPartial(
  state: BedrockConverseState,
  block: OpenBlock | undefined,
): BedrockConverseState {
  if (block?.kind !== "own" || block.partial) return state;
  return withBlock(state, block, { ...block, partial: true });
}
