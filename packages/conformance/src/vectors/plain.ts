import { textOf } from "@millrace/core";
import { decodeDelta, decodeMessage, encodeDelta } from "@millrace/core/wire";
import { joinBytes, partId } from "@millrace/core/writing";
import type { Delta, Fact, Item, Json, JsonObject, Part } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { DraftPart, OpenPart, PartKind } from "@millrace/core/writing";

/**
 * The value after a round trip through JSON text: without undefined fields, bytes in base64, no
 * `-0`.
 */
export function toJson(value: unknown): Json {
  return JSON.parse(
    JSON.stringify(value, (_, child: unknown) =>
      child instanceof Uint8Array ? base64(child) : child,
    ),
  ) as Json;
}

/** The input of a vector as an object. */
export function record(value: Json | undefined): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError("the vector has no object where one belongs");
  return value as JsonObject;
}

/** A list in the input of a vector. */
export function list(value: Json | undefined): readonly Json[] {
  if (!Array.isArray(value)) throw new TypeError("the vector has no list where one belongs");
  return value as readonly Json[];
}

/** A text in the input of a vector. */
export function text(value: Json | undefined): string {
  if (typeof value !== "string") throw new TypeError("the vector has no text where one belongs");
  return value;
}

/** Bytes in their wire form. */
function base64(bytes: Uint8Array): string {
  return text(encodeDelta({ op: "append_bytes", partId: partId("p"), chunk: bytes })["chunk"]);
}

/** A part in its wire form. */
function encodePart(part: Part): JsonObject {
  return record(encodeDelta({ op: "commit_part", partId: part.id, part })["part"]);
}

export function decodeDeltas(values: Json | undefined): readonly Delta[] {
  return list(values).map((value) => {
    const decoded = decodeDelta(value);
    if (!decoded.ok) throw new TypeError(`not a delta: ${decoded.fault.message}`);
    return decoded.value;
  });
}

/** Decodes an item, which has no decoder of its own because items travel in facts. */
export function decodeItem(value: Json): Item {
  const envelope = { v: 1, n: 1, sessionId: "s1", time: 0, type: "item_committed", item: value };
  const fact = decodeFactOrBatch(envelope);
  if (!("n" in fact) || fact.type !== "item_committed") throw new TypeError("not an item");
  return fact.item;
}

export function decodeFactOrBatch(value: Json): Fact | Batch {
  const decoded = decodeMessage(JSON.stringify(value));
  if (!decoded.ok) throw new TypeError(`not a message: ${decoded.fault.message}`);
  if ("closedLanes" in decoded.value) throw new TypeError("a snapshot is no fact and no batch");
  return decoded.value;
}

/**
 * A part of a draft in the form of the vectors: its content has one name for each way to fill a
 * part.
 */
export function showPart(part: DraftPart): JsonObject {
  const { id, state } = part;
  if (state === "committed") {
    const encoded = encodePart(part.part);
    return { id, state, kind: encoded["kind"] as Json, part: encoded };
  }
  const { kind } = part.begin;
  const shown = { id, state, kind, ...contentOf[kind](part), metadata: part.metadata };
  return record(toJson(shown));
}

const asText = (part: OpenPart): object => ({ text: textOf(part) });
const asBytes = (part: OpenPart): object => ({ bytes: joinBytes(part.bytes) });
const asValue = (part: OpenPart): object => ({ value: part.value });

const contentOf: Readonly<Record<PartKind, (part: OpenPart) => object>> = {
  text: asText,
  reasoning: asText,
  tool_result: asText,
  tool_call: (part) => ({ raw: textOf(part) }),
  media: asBytes,
  file: asBytes,
  structured: asValue,
  custom: asValue,
};
