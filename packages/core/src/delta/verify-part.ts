import { isBlobHash } from "../content/blob.ts";
import type { BlobRef } from "../content/blob.ts";
import { parseArguments } from "../content/arguments.ts";
import type { FilePart, MediaPart, Part, ToolCallPart } from "../content/part.ts";
import type { PartId } from "../ids.ts";
import { checkJson, equalJson } from "../json.ts";
import type { Json } from "../json.ts";
import { isWellFormed } from "../text.ts";
import type { CommitPart, Delta } from "./delta.ts";
import { joinBytes } from "./draft.ts";
import type { Draft, DraftLimits, DraftPart, Fault, OpenPart } from "./draft.ts";
import { fault, tooLarge } from "./verify.ts";

/** The checks of a writer. Of the part it is known that the delta fits to it. */
export function checkContent(
  draft: Draft,
  part: DraftPart | undefined,
  delta: Delta,
): Fault | undefined {
  const { limits } = draft;
  if (delta.op === "begin_part")
    return checkRoom(draft, delta.partId) ?? verifyLabels(delta.partId, delta);
  if (delta.op === "commit_part") return checkCommit(draft, part, delta);
  const open = part as OpenPart; // else the delta would not fit
  switch (delta.op) {
    case "append_text":
      return undefined; // verified by itself
    case "append_bytes": {
      const length = (open.bytes?.length ?? 0) + delta.chunk.length;
      return length > limits.bytes ? tooLarge(open) : undefined;
    }
    case "replace_structured":
      return verifyJson(limits, open.id, delta.value);
    case "set_metadata":
      return verifyJson(limits, open.id, delta.metadata);
    default:
      delta satisfies never;
      return undefined;
  }
}

function checkRoom({ parts, limits }: Draft, id: PartId): Fault | undefined {
  if (parts.length < limits.parts) return undefined;
  return fault("too_many_parts", id, `an item has at most ${limits.parts} parts`);
}

function checkCommit(
  draft: Draft,
  begun: DraftPart | undefined,
  { partId, part }: CommitPart,
): Fault | undefined {
  if (begun === undefined) return checkRoom(draft, partId) ?? verifyWhole(draft.limits, part);
  const difference = differenceFrom(begun as OpenPart, part); // it fits, so it is not committed
  if (difference === undefined) return verifyWhole(draft.limits, part);
  return fault("commit_mismatch", partId, `its ${difference} is not what was streamed`);
}

/** The first field in which the committed part differs from what came before it. */
function differenceFrom(open: OpenPart, part: Part): string | undefined {
  const { begin } = open;
  if (part.kind !== begin.kind) return "kind";
  if (open.metadata !== undefined && !equalJson(open.metadata, part.metadata)) return "metadata";
  const labels: Labels = part;
  const begun: Labels = begin;
  for (const [field, shown] of labelNames) if (labels[field] !== begun[field]) return shown;
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "tool_result":
    case "tool_call":
      return undefined; // readers compare texts too, so it is done already
    case "media":
    case "file":
      return sameContent(open, part) ? undefined : "content";
    case "custom":
    case "structured":
      return open.value === undefined || equalJson(open.value, part.value) ? undefined : "value";
    default:
      part satisfies never;
      return "kind";
  }
}

/** What a part is called by, as far as its kind has it. A part that is begun has these already. */
interface Labels {
  readonly kind: string;
  readonly callId?: string;
  readonly tool?: string;
  readonly mediaType?: string;
  readonly name?: string;
}
const labelNames = [
  ["callId", "call id"],
  ["tool", "tool"],
  ["mediaType", "media type"],
  ["name", "name"],
] as const;

/** A blob stands for bytes that are not here: only their number is compared. */
function sameContent(open: OpenPart, { bytes, blob }: MediaPart | FilePart): boolean {
  if (open.bytes === undefined) return true;
  if (blob !== undefined) return blob.size === open.bytes.length;
  if (bytes?.length !== open.bytes.length) return false;
  return joinBytes(open.bytes).every((byte, at) => byte === bytes[at]);
}

/** A committed part must be sound by itself, whether or not it was streamed. */
export function verifyWhole(limits: DraftLimits, part: Part): Fault | undefined {
  const { id } = part;
  if (part.kind === "opaque") return verifyJson(limits, id, part.original);
  for (const value of asides(part)) {
    const wrong = verifyJson(limits, id, value);
    if (wrong) return wrong;
  }
  return verifyLabels(id, part) ?? verifyContent(limits, part);
}

function verifyContent(
  limits: DraftLimits,
  part: Exclude<Part, { kind: "opaque" }>,
): Fault | undefined {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "tool_result":
      return verifyText(part.id, part.text, limits.text);
    case "tool_call":
      return verifyText(part.id, part.raw, limits.arguments) ?? verifyInput(limits, part);
    case "media":
    case "file":
      if ((part.bytes?.length ?? 0) > limits.bytes) {
        return fault("part_too_large", part.id, `a part has at most ${limits.bytes} bytes`);
      }
      return part.blob === undefined ? undefined : verifyBlob(part.id, part.blob);
    case "structured":
    case "custom":
      return verifyJson(limits, part.id, part.value);
    default:
      part satisfies never;
      return undefined;
  }
}

/** How large a blob may be is its store's matter: a part that names one stays small. */
function verifyBlob(id: PartId, { hash, size }: BlobRef): Fault | undefined {
  if (isBlobHash(hash) && Number.isSafeInteger(size) && size >= 0) return undefined;
  return fault("malformed_value", id, "not the hash and the size of a blob");
}

/**
 * A fault is accepted from the writer: it may know that more was to come, or have narrower limits, and
 * a call with a fault never runs. An input is checked: it must be what the text parses to.
 */
function verifyInput(limits: DraftLimits, part: ToolCallPart): Fault | undefined {
  if (part.input === undefined) return undefined;
  const { input } = parseArguments(part.raw, limits.json);
  if (equalJson(part.input, input)) return undefined;
  return fault("commit_mismatch", part.id, "its input is not that of its raw text");
}

/** The values that a part carries beside its content. */
function asides(part: Exclude<Part, { kind: "opaque" }>): readonly Json[] {
  const values: Json[] = [];
  if (part.metadata !== undefined) values.push(part.metadata);
  if ("opaque" in part && part.opaque !== undefined) values.push(part.opaque);
  if ("output" in part && part.output !== undefined) values.push(part.output);
  return values;
}

/** Names and types are text as well: a half character in one can't be stored or sent. */
function verifyLabels(id: PartId, labels: Labels & { readonly url?: string }): Fault | undefined {
  const texts = [labels.tool, labels.name, labels.mediaType, labels.url];
  const sound = texts.every((text) => text === undefined || isWellFormed(text));
  return sound ? undefined : fault("malformed_text", id, "half a surrogate pair in a name or type");
}

function verifyText(id: PartId, text: string, limit: number): Fault | undefined {
  if (text.length > limit) {
    return fault("part_too_large", id, `a part has at most ${limit} characters`);
  }
  return text.isWellFormed() ? undefined : fault("malformed_text", id, "half a surrogate pair");
}

function verifyJson(limits: DraftLimits, id: PartId, value: Json): Fault | undefined {
  const wrong = checkJson(value, limits.json);
  return wrong && fault("malformed_value", id, `not plain JSON within the limits: ${wrong.code}`);
}
