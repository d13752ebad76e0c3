import { parseJson } from "@millrace/core/json";
import type { Json, JsonObject, PartId } from "@millrace/core";
import type { Metadata } from "@millrace/core/writing";
import type { Operation } from "../../protocol.ts";
import { isSound, pick, textAt } from "../read.ts";
import { isBlank } from "./events.ts";
import type { AnthropicMessagesState, Citations, OpenBlock, OtherBlock, Outcome } from "./state.ts";

/** Ends a block. A call without arguments is held until the stop reason arrives. */
export function stopBlock(state: AnthropicMessagesState, block: OpenBlock): Outcome {
  const isHeld =
    block.kind === "tool_use" &&
    !block.filled &&
    block.preset === undefined &&
    block.fault === undefined;
  return {
    state: {
      ...state,
      open: state.open.filter((open) => open !== block),
      closed: new Set(state.closed).add(block.index),
      held: isHeld ? [...state.held, block.partId] : state.held,
    },
    operations: isHeld ? [] : closing(block, "stopped"),
  };
}

/**
 * Returns the last operations of a block. `end`: the vendor stopped it, or left it open at the end
 * of the reply.
 */
export function closing(block: OpenBlock, end: "stopped" | "left_open"): readonly Operation[] {
  const { partId: id } = block;
  switch (block.kind) {
    case "text":
      return [...cited(id, block.citations), { op: "close_part", partId: id }];
    case "thinking": {
      const opaque = { type: "thinking", signature: block.signature };
      const signed = block.signature !== "" && isSound(opaque);
      return [{ op: "close_part", partId: id, ...(signed ? { opaque } : {}) }];
    }
    case "redacted_thinking": {
      const opaque = { type: "redacted_thinking", data: block.data ?? "" };
      const kept = block.data !== undefined && isSound(opaque);
      return [{ op: "close_part", partId: id, ...(kept ? { opaque } : {}) }];
    }
    case "tool_use": {
      if (end === "left_open") return [cutOff(id)];
      const used = !block.filled;
      const fault = used ? block.fault : undefined;
      return [
        ...appended(id, used ? block.preset : undefined),
        { op: "close_part", partId: id, ...(fault === undefined ? {} : { fault }) },
      ];
    }
    case "nameless":
      return [];
    case "other":
      return closingOther(block, id, end === "stopped" && !block.partial);
    default:
      block satisfies never;
      return [];
  }
}

/** Ends a call whose arguments are incomplete. */
export function cutOff(id: PartId): Operation {
  return { op: "close_part", partId: id, fault: { code: "truncated" } };
}

function cited(id: PartId, newest: Citations | undefined): readonly Operation[] {
  const citations: Json[] = [];
  for (let node = newest; node !== undefined; node = node.before) citations.push(node.citation);
  const metadata = { citations: citations.toReversed() };
  return newest === undefined || !isSound(metadata)
    ? []
    : [{ op: "set_metadata", partId: id, metadata }];
}

/**
 * Closes a block that is kept as the vendor sent it. A block that is incomplete, or too large for a
 * part, is marked in its metadata and not sent back.
 */
function closingOther(block: OtherBlock, id: PartId, whole: boolean): readonly Operation[] {
  const { value, fault } = assembled(block);
  const storable = isSound(value);
  const why = storable
    ? (fault ?? (whole ? undefined : { unusable: "partial" }))
    : { unusable: "not_storable" };
  const kept = storable ? value : pick(block.block, ["type", "id", "name", "tool_use_id"]);
  return [
    ...(why === undefined ? [] : labelled(id, { ...block.labels, ...why })),
    { op: "replace_structured", partId: id, value: kept },
    { op: "close_part", partId: id },
  ];
}

function assembled({ block, added }: OtherBlock): {
  readonly value: JsonObject;
  readonly fault?: Metadata;
} {
  const { input, encrypted_content: encrypted, ...texts } = added;
  const value: Record<string, Json> = { ...block };
  for (const [key, text] of Object.entries(texts)) value[key] = (textAt(block, key) ?? "") + text;
  if (encrypted !== undefined) value["encrypted_content"] = encrypted;
  if (input === undefined || isBlank(input)) return { value };
  const parsed = parseJson(input);
  if (parsed.ok) return { value: { ...value, input: parsed.value } };
  const raw = input.slice(0, 100_000).toWellFormed();
  return { value, fault: { unusable: parsed.fault.code, raw } };
}

/** Appends text, unless it is empty. */
export function appended(id: PartId, chunk: string | undefined): readonly Operation[] {
  return chunk === undefined || chunk === "" ? [] : [{ op: "append_text", partId: id, chunk }];
}

/** Sets metadata before the part is complete, if there is any. */
export function labelled(id: PartId, metadata: Metadata): readonly Operation[] {
  return Object.keys(metadata).length === 0 ? [] : [{ op: "set_metadata", partId: id, metadata }];
}
