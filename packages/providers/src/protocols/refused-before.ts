import { isJsonObject } from "@millrace/core/json";
import type { FilePart, Item, MediaPart, Part, Transcript } from "@millrace/core";

/** A transcript without parts that were refused before, and those parts. */
export interface WithoutRefused {
  readonly transcript: Transcript;
  readonly left: readonly (MediaPart | FilePart)[];
}

/**
 * Puts a text in the place of each part for which an earlier reply by this protocol was refused. A part
 * is refused once, with what to do. It stays in its session, so without this every later request would
 * be refused too, and the session could not go on.
 */
export function withoutRefused(transcript: Transcript, protocol: string): WithoutRefused {
  const refused = new Set(transcript.flatMap((item) => refusedBy(item, protocol)));
  if (refused.size === 0) return { transcript, left: [] };
  const left: (MediaPart | FilePart)[] = [];
  const kept = transcript.map((item): Item => {
    const parts = item.parts.map((part): Part => {
      if (part.kind !== "media" && part.kind !== "file") return part;
      if (!refused.has(placeOf(item.id, part.id))) return part;
      left.push(part);
      return { kind: "text", id: part.id, text: leftOut(part) };
    });
    return { ...item, parts };
  });
  return { transcript: kept, left };
}

/** The text in the place of a part, which the model can refer to. */
function leftOut(part: MediaPart | FilePart): string {
  const name = part.kind === "file" ? `file ${JSON.stringify(part.name)}` : "media";
  return `[${name}, ${part.mediaType}: left out, because it can't be read here]`.toWellFormed();
}

/** The place of the part that a reply was refused for, by its cause (see `refusalCause`). */
function refusedBy(item: Item, protocol: string): readonly string[] {
  const { cause, model = "" } = item;
  const evidence = cause?.code === "bad_request" ? cause.evidence : undefined;
  if (!isJsonObject(evidence) || !model.startsWith(`${protocol}/`)) return [];
  const { itemId, partId } = evidence;
  return typeof itemId === "string" && typeof partId === "string" ? [placeOf(itemId, partId)] : [];
}

function placeOf(itemId: string, partId: string): string {
  return JSON.stringify([itemId, partId]);
}
