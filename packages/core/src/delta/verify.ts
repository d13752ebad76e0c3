import { parseArguments } from "../content/arguments.ts";
import type { Part } from "../content/part.ts";
import type { PartId } from "../ids.ts";
import { checkJson, equalJson } from "../json.ts";
import type { Json } from "../json.ts";
import { isWellFormed } from "../text.ts";
import { fillOf } from "./delta.ts";
import type { CommitPart, Delta } from "./delta.ts";
import { joinBytes, textLength, textOf } from "./draft.ts";
import type { Draft, DraftPart, Fault, FaultCode, OpenPart } from "./draft.ts";

/**
 * Says why a delta may not follow what the draft holds, or nothing if it may. The one place that
 * knows which sequences are legal; `fold` asks it for every delta. Never throws.
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
  if (delta.op === "begin_part") return verifyBegin(draft, part, delta.partId);
  if (delta.op === "commit_part") return verifyCommit(draft, part, delta);
  if (part === undefined)
    return fault("unknown_part", delta.partId, `${delta.op} before begin_part`);
  if (part.state === "committed")
    return fault("part_committed", part.id, `${delta.op} after commit_part`);
  const fill = fillOf[part.begin.kind];
  switch (delta.op) {
    case "append_text":
      if (fill !== "text") return wrongKind(part, delta.op);
      if (!isWellFormed(delta.chunk)) return malformedText(part);
      if (textLength(part) + delta.chunk.length > textLimit(draft, part)) return tooLarge(part);
      return undefined;
    case "append_bytes":
      if (fill !== "bytes") return wrongKind(part, delta.op);
      if ((part.bytes?.length ?? 0) + delta.chunk.length > draft.limits.bytes)
        return tooLarge(part);
      return undefined;
    case "replace_structured":
      if (fill !== "value") return wrongKind(part, delta.op);
      return verifyJson(draft, part.id, delta.value);
    case "set_metadata":
      return verifyJson(draft, part.id, delta.metadata);
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

function verifyBegin(draft: Draft, part: DraftPart | undefined, id: PartId): Fault | undefined {
  if (part !== undefined) return fault("part_exists", id, "begin_part for a part that is there");
  if (draft.parts.length >= draft.limits.parts) {
    return fault("too_many_parts", id, `an item has at most ${draft.limits.parts} parts`);
  }
  return undefined;
}

function verifyCommit(
  draft: Draft,
  begun: DraftPart | undefined,
  delta: CommitPart,
): Fault | undefined {
  const { partId, part } = delta;
  if (begun?.state === "committed") return fault("part_committed", partId, "commit_part twice");
  if (part.id !== partId)
    return fault("commit_mismatch", partId, `the part says its id is ${part.id}`);
  if (begun === undefined && draft.parts.length >= draft.limits.parts) {
    return verifyBegin(draft, undefined, partId);
  }
  const difference = begun === undefined ? undefined : differenceFrom(begun, part);
  if (difference !== undefined) {
    return fault("commit_mismatch", partId, `its ${difference} is not what was streamed`);
  }
  return verifyWhole(draft, part);
}

/** The first field in which the committed part differs from what came before it. */
function differenceFrom(open: OpenPart, part: Part): string | undefined {
  const { begin } = open;
  if (part.kind !== begin.kind) return "kind";
  if (open.metadata !== undefined && !equalJson(open.metadata, part.metadata)) return "metadata";
  switch (part.kind) {
    case "text":
    case "reasoning":
      return sameText(open, part.text) ? undefined : "text";
    case "tool_call":
    case "tool_result":
      if (!("callId" in begin) || part.callId !== begin.callId) return "call id";
      if (part.tool !== begin.tool) return "tool";
      return sameText(open, part.kind === "tool_call" ? part.raw : part.text) ? undefined : "text";
    case "media":
    case "file":
      if (!("mediaType" in begin) || part.mediaType !== begin.mediaType) return "media type";
      if (part.kind === "file" && (!("name" in begin) || part.name !== begin.name)) return "name";
      return sameBytes(open, part.bytes) ? undefined : "content";
    case "custom":
      if (!("name" in begin) || part.name !== begin.name) return "name";
      return open.value === undefined || equalJson(open.value, part.value) ? undefined : "value";
    case "structured":
      return open.value === undefined || equalJson(open.value, part.value) ? undefined : "value";
    default:
      part satisfies never;
      return "kind";
  }
}

/** What was never streamed may come whole. */
function sameText(open: OpenPart, text: string): boolean {
  const streamed = textOf(open);
  return streamed === "" || streamed === text;
}

function sameBytes(open: OpenPart, bytes: Uint8Array | undefined): boolean {
  if (open.bytes === undefined) return true;
  if (bytes?.length !== open.bytes.length) return false;
  return joinBytes(open.bytes).every((byte, at) => byte === bytes[at]);
}

/** A committed part must be sound by itself, whether or not it was streamed. */
function verifyWhole(draft: Draft, part: Part): Fault | undefined {
  const { limits } = draft;
  if (part.kind === "opaque") return verifyJson(draft, part.id, part.original);
  const metadata =
    part.metadata === undefined ? undefined : verifyJson(draft, part.id, part.metadata);
  if (metadata) return metadata;
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "tool_result":
      return verifyText(part.id, part.text, limits.text);
    case "tool_call": {
      const size = verifyText(part.id, part.raw, limits.arguments);
      if (size) return size;
      // A fault is taken on the writer's word: it may know that more was to come, or have narrower
      // limits, and a call with a fault never runs. An input is not: it must be what the text says.
      if (part.input === undefined) return undefined;
      const { input } = parseArguments(part.raw, limits.json);
      return equalJson(part.input, input)
        ? undefined
        : fault("commit_mismatch", part.id, "its input is not what its raw text says");
    }
    case "media":
    case "file":
      if ((part.bytes?.length ?? 0) <= limits.bytes) return undefined;
      return fault("part_too_large", part.id, `a part has at most ${limits.bytes} bytes`);
    case "structured":
    case "custom":
      return verifyJson(draft, part.id, part.value);
    default:
      part satisfies never;
      return undefined;
  }
}

function verifyText(id: PartId, text: string, limit: number): Fault | undefined {
  if (text.length > limit)
    return fault("part_too_large", id, `a part has at most ${limit} characters`);
  return text.isWellFormed() ? undefined : fault("malformed_text", id, "half a surrogate pair");
}

function verifyJson(draft: Draft, id: PartId, value: Json): Fault | undefined {
  const wrong = checkJson(value, draft.limits.json);
  return wrong && fault("malformed_value", id, `not plain JSON within the limits: ${wrong.code}`);
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

function fault(code: FaultCode, id: PartId, message: string): Fault {
  return { code, partId: id, message };
}
