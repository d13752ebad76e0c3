import { encodeBase64, parseJson } from "@millrace/core/json";
import type { Json, JsonObject, PartId } from "@millrace/core";
import type { Operation } from "../../protocol.ts";
import { isSound, pick, textAt } from "../read.ts";
import { valuesOf } from "./state.ts";
import type { OpenBlock, OwnBlock } from "./state.ts";

/** The last operations of a block. */
export function closing(block: OpenBlock): readonly Operation[] {
  const { partId: id } = block;
  switch (block.kind) {
    case "text":
      return [...cited(id, valuesOf(block.citations)), { op: "close_part", partId: id }];
    case "reasoning": {
      const opaque = { signature: block.signature };
      const signed = block.signature !== "" && isSound(opaque);
      return [{ op: "close_part", partId: id, ...(signed ? { opaque } : {}) }];
    }
    case "redacted": {
      const opaque = { redactedContent: encodeBase64(joined(valuesOf(block.bytes))) };
      const kept = opaque.redactedContent !== "" && isSound(opaque);
      return [{ op: "close_part", partId: id, ...(kept ? { opaque } : {}) }];
    }
    case "nameless":
      return [];
    case "own":
      return closingOwn(block, id);
    default:
      return [{ op: "close_part", partId: id }];
  }
}

/** Ends a call whose arguments are incomplete. */
export function cutOff(id: PartId): Operation {
  return { op: "close_part", partId: id, fault: { code: "truncated" } };
}

function cited(id: PartId, citations: readonly Json[]): readonly Operation[] {
  const metadata = { citations };
  return citations.length === 0 || !isSound(metadata)
    ? []
    : [{ op: "set_metadata", partId: id, metadata }];
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/**
 * Closes a block that is kept as the vendor sent it. One that is incomplete, or too large for a part, is
 * marked in its metadata and not sent back.
 */
function closingOwn(block: OwnBlock, id: PartId): readonly Operation[] {
  const { value, unusable } = assembled(block);
  const storable = isSound(value);
  const why = storable ? unusable : "not_storable";
  const kept = storable
    ? value
    : { [block.name]: pick(block.start, ["toolUseId", "name", "type"]) };
  return [
    ...(why === undefined
      ? []
      : [{ op: "set_metadata", partId: id, metadata: { unusable: why } } as const]),
    { op: "replace_structured", partId: id, value: kept },
    { op: "close_part", partId: id },
  ];
}

/** The block as a request has it. */
function assembled(block: OwnBlock): { readonly value: JsonObject; readonly unusable?: string } {
  const { name, start, partial } = block;
  const left = partial ? { unusable: "partial" } : {};
  if (name === "toolResult") {
    const content = mergedTexts(valuesOf(block.content));
    return { value: { toolResult: { ...start, content } }, ...left };
  }
  if (name !== "toolUse") return { value: { [name]: start }, unusable: "partial" };
  const text = valuesOf(block.input).join("");
  const parsed = text.trim() === "" ? ({ ok: true, value: {} } as const) : parseJson(text);
  if (parsed.ok) return { value: { toolUse: { ...start, input: parsed.value } }, ...left };
  return { value: { toolUse: start }, unusable: parsed.fault.code };
}

/** Pieces of text that follow one another are one text. */
function mergedTexts(pieces: readonly JsonObject[]): readonly JsonObject[] {
  const merged: JsonObject[] = [];
  for (const piece of pieces) {
    const [text, before] = [textAt(piece, "text"), textAt(merged.at(-1), "text")];
    if (text !== undefined && before !== undefined) merged.splice(-1, 1, { text: before + text });
    else merged.push(piece);
  }
  return merged;
}
