import type { Part } from "../content/part.ts";
import type { PartId } from "../ids.ts";
import { isWellFormed } from "../text.ts";
import { fillOf } from "./delta.ts";
import type { AppendText, Delta } from "./delta.ts";
import { textLength, textOf } from "./draft.ts";
import type { Draft, DraftPart, Fault, FaultCode, OpenPart } from "./draft.ts";

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
  if (delta.op === "append_text" && part?.state === "open") return verifyAppend(draft, part, delta);
  return verifyPosition(part, delta) ?? draft.check?.(draft, part, delta);
}

/** By itself, because nearly all deltas are appends: the draft's check is not called for them. */
function verifyAppend(draft: Draft, part: OpenPart, { chunk }: AppendText): Fault | undefined {
  const { id, begin } = part;
  const { kind } = begin;
  // The two usual kinds by name: a lookup by a key that varies costs a tenth of an append.
  if (kind !== "text" && kind !== "tool_call" && fillOf[kind] !== "text")
    return wrongKind(part, "append_text");
  if (!isWellFormed(chunk))
    return fault("malformed_text", id, "half a surrogate pair; pass chunks through wholeText");
  return textLength(part) + chunk.length > textLimit(draft, part) ? tooLarge(part) : undefined;
}

/** What readers check too: that the delta fits to its part, and a commit to the text that was shown. */
function verifyPosition(part: DraftPart | undefined, delta: Delta): Fault | undefined {
  const { op, partId } = delta;
  if (op === "begin_part")
    return part && fault("part_exists", partId, "begin_part after begin_part");
  if (part?.state === "committed")
    return fault("part_committed", partId, `${op} after commit_part`);
  if (op === "commit_part") {
    const { id } = delta.part;
    if (id !== partId) return fault("commit_mismatch", partId, `its id is ${id}`);
    // What was never streamed may come whole.
    const streamed = part === undefined ? "" : textOf(part);
    if (streamed === "" || streamed === textIn(delta.part)) return undefined;
    return fault("commit_mismatch", partId, "its text is not what was streamed");
  }
  if (part === undefined) return fault("unknown_part", partId, `${op} before begin_part`);
  const fill = filledBy[op];
  if (fill !== undefined && fillOf[part.begin.kind] !== fill) return wrongKind(part, op);
  return op in filledBy ? undefined : fault("unknown_op", partId, "no operation of this version");
}

/** The text of a part as it was streamed: a commit is a checksum of it. */
function textIn(part: Part): unknown {
  return "raw" in part ? part.raw : "text" in part ? part.text : undefined;
}

/** What the operations on an open part fill. */
const filledBy = {
  append_text: "text",
  append_bytes: "bytes",
  replace_structured: "value",
  set_metadata: undefined,
} as const satisfies Record<Exclude<Delta["op"], "begin_part" | "commit_part">, string | undefined>;

/** Where the part stands, or -1. From the end, because the newest part is the likely one. */
export function findPart(parts: readonly DraftPart[], id: PartId): number {
  let at = parts.length - 1;
  while (at >= 0 && parts[at]?.id !== id) at -= 1;
  return at;
}

/** How much text the part may hold. */
export function textLimit({ limits }: Pick<Draft, "limits">, part: OpenPart): number {
  return part.begin.kind === "tool_call" ? limits.arguments : limits.text;
}

function wrongKind({ id, begin }: OpenPart, op: string): Fault {
  return fault("wrong_kind", id, `${op} on a part of kind ${begin.kind}`);
}

export function tooLarge({ id, begin }: OpenPart): Fault {
  return fault("part_too_large", id, `${begin.kind} beyond its limit`);
}

export function fault(code: FaultCode, id: PartId, message: string): Fault {
  return { code, partId: id, message };
}
