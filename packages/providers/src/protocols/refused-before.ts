import { isJsonObject } from "@millrace/core/json";
import type { FilePart, Item, JsonObject, MediaPart, Part, Transcript } from "@millrace/core";
import { givenOptions } from "./given-options.ts";
import type { LeftOut } from "./refusal.ts";

/** A transcript without parts and options that were refused before, and what they were. */
export interface WithoutRefused {
  readonly transcript: Transcript;
  readonly left: readonly LeftOut[];
}

/**
 * Puts a text in the place of each part for which an earlier reply by this protocol was refused, and
 * takes away options that were. Each is refused once, with what to do. It stays in its session, so
 * without this every later request would be refused too, and the session could not go on.
 */
export function withoutRefused(transcript: Transcript, protocol: string): WithoutRefused {
  const refused = new Set(transcript.flatMap((item) => refusedBy(item, protocol)));
  if (refused.size === 0) return { transcript, left: [] };
  const left: LeftOut[] = [];
  const kept = transcript.map((item): Item => {
    const parts = item.parts.map((part): Part => {
      const names = ["options", ...Object.keys(givenOptions(part) ?? {})];
      const lost = names.filter((name) => refused.has(placeOf(item.id, part.id, name)));
      left.push(...lost.map((option) => ({ part, option })));
      if (part.kind !== "media" && part.kind !== "file") return withoutOptions(part, lost);
      if (!refused.has(placeOf(item.id, part.id))) return withoutOptions(part, lost);
      left.push({ part });
      return { kind: "text", id: part.id, text: leftOut(part) };
    });
    return { ...item, parts };
  });
  return { transcript: kept, left };
}

function withoutOptions(part: Part, names: readonly string[]): Part {
  if (names.length === 0 || part.kind === "opaque") return part;
  const given = givenOptions(part);
  const options = Object.fromEntries(
    Object.entries(isJsonObject(given) ? given : {}).filter(([name]) => !names.includes(name)),
  );
  return { ...part, metadata: { ...part.metadata, options } };
}

/** The text in the place of a part, which the model can refer to. */
function leftOut(part: MediaPart | FilePart): string {
  const name = part.kind === "file" ? `file ${JSON.stringify(part.name)}` : "media";
  return `[${name}, ${part.mediaType}: left out, because it can't be read here]`.toWellFormed();
}

/** The place of the part, or of its option, that a reply was refused for, by its cause (see `refusalCause`). */
function refusedBy(item: Item, protocol: string): readonly string[] {
  const { cause, model = "" } = item;
  const evidence = cause?.code === "bad_request" ? cause.evidence : undefined;
  if (!isJsonObject(evidence) || !model.startsWith(`${protocol}/`)) return [];
  const { itemId, partId, option } = evidence as Partial<JsonObject>;
  if (typeof itemId !== "string" || typeof partId !== "string") return [];
  return [placeOf(itemId, partId, typeof option === "string" ? option : undefined)];
}

function placeOf(itemId: string, partId: string, option?: string): string {
  return JSON.stringify([itemId, partId, option]);
}
