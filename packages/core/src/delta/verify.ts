import type { PartId } from "../ids.ts";
import { isWellFormed } from "../text.ts";
import { fillOf } from "./delta.ts";
import type { BeginPart, CommitPart, Delta } from "./delta.ts";
import { textLength } from "./draft.ts";
import type { Draft, DraftPart, Fault, OpenPart } from "./draft.ts";
import { differenceFrom, fault, verifyJson, verifyLabels, verifyWhole } from "./verify-part.ts";

/**
 * Why a delta may not follow what the draft holds; undefined if it may. The one place that decides
 * which sequences are legal; `fold` calls it for every delta. Never throws.
 */
export function verify(draft: Draft, delta: Delta): Fault | undefined {
  const at = findPart(draft.parts, delta.partId);
  return verifyAt(draft, at < 0 ? undefined : draft.parts[at], delta);
}

/** As `verify`, for a caller that has found the part already. */
export function verifyAt(
  draft: Draft,
  part: DraftPart | undefined,
  delta: Delta,
): Fault | undefined {
  if (delta.op === "begin_part") return verifyBegin(draft, part, delta);
  if (delta.op === "commit_part") return verifyCommit(draft, part, delta);
  if (part === undefined)
    return fault("unknown_part", delta.partId, `${delta.op} before begin_part`);
  if (part.state === "committed")
    return fault("part_committed", part.id, `${delta.op} after commit_part`);
  const { kind } = part.begin;
  switch (delta.op) {
    case "append_text":
      // The two usual kinds by name: a lookup by a key that varies costs a tenth of an append.
      if (kind !== "text" && kind !== "tool_call" && fillOf[kind] !== "text")
        return wrongKind(part, delta.op);
      if (!isWellFormed(delta.chunk)) return malformedText(part);
      if (textLength(part) + delta.chunk.length > textLimit(draft, part)) return tooLarge(part);
      return undefined;
    case "append_bytes":
      if (fillOf[kind] !== "bytes") return wrongKind(part, delta.op);
      if ((part.bytes?.length ?? 0) + delta.chunk.length > draft.limits.bytes)
        return tooLarge(part);
      return undefined;
    case "replace_structured":
      if (fillOf[kind] !== "value") return wrongKind(part, delta.op);
      return verifyJson(draft.limits, part.id, delta.value);
    case "set_metadata":
      return verifyJson(draft.limits, part.id, delta.metadata);
    default:
      delta satisfies never; // a new operation does not compile until it is handled here
      return fault("unknown_op", part.id, "no operation of this version");
  }
}

/** Where the part stands, or -1. From the end, because the newest part is the likely one. */
export function findPart(parts: readonly DraftPart[], id: PartId): number {
  let at = parts.length - 1;
  while (at >= 0 && parts[at]?.id !== id) at -= 1;
  return at;
}

/** How much text the part may hold. */
export function textLimit(draft: Draft, part: OpenPart): number {
  return part.begin.kind === "tool_call" ? draft.limits.arguments : draft.limits.text;
}

function verifyBegin(
  draft: Draft,
  part: DraftPart | undefined,
  delta: BeginPart,
): Fault | undefined {
  const { partId } = delta;
  if (part !== undefined) return fault("part_exists", partId, "begin_part after begin_part");
  return verifyRoom(draft, partId) ?? verifyLabels(partId, delta);
}

function verifyRoom(draft: Draft, id: PartId): Fault | undefined {
  if (draft.parts.length < draft.limits.parts) return undefined;
  return fault("too_many_parts", id, `an item has at most ${draft.limits.parts} parts`);
}

function verifyCommit(
  draft: Draft,
  begun: DraftPart | undefined,
  delta: CommitPart,
): Fault | undefined {
  const { partId, part } = delta;
  if (begun?.state === "committed") return fault("part_committed", partId, "commit_part twice");
  if (part.id !== partId) {
    return fault("commit_mismatch", partId, `its id is ${part.id}`);
  }
  if (begun === undefined) return verifyRoom(draft, partId) ?? verifyWhole(draft.limits, part);
  const difference = differenceFrom(begun, part);
  if (difference === undefined) return verifyWhole(draft.limits, part);
  return fault("commit_mismatch", partId, `its ${difference} is not what was streamed`);
}

function malformedText(part: OpenPart): Fault {
  return fault("malformed_text", part.id, "half a surrogate pair; pass chunks through wholeText");
}

function wrongKind(part: OpenPart, op: string): Fault {
  return fault("wrong_kind", part.id, `${op} on a part of kind ${part.begin.kind}`);
}

function tooLarge(part: OpenPart): Fault {
  return fault("part_too_large", part.id, `${part.begin.kind} beyond its limit`);
}
