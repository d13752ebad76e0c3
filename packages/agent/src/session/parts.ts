import { partId } from "@millrace/core/writing";
import type { Part, PartId, Transcript } from "@millrace/core";
import { numberedParts } from "../loop/ids.ts";
import type { Content } from "./input.ts";

/** Converts sent content to parts: text, media for images, audio and video, and files for everything else. */
export async function partsOf(content: Content): Promise<readonly Part[]> {
  const pieces = typeof content === "string" ? [content] : content;
  return await Promise.all(
    pieces.map(async (piece, index): Promise<Part> => {
      const id = partId(`p${index + 1}`);
      if (typeof piece === "string") return { kind: "text", id, text: piece.toWellFormed() };
      const bytes = new Uint8Array(await piece.arrayBuffer());
      const mediaType = piece.type === "" ? "application/octet-stream" : piece.type;
      if (/^(image|audio|video)\//.test(mediaType)) return { kind: "media", id, mediaType, bytes };
      const name = piece.name ?? `file-${index + 1}`;
      return { kind: "file", id, name: name.toWellFormed(), mediaType, bytes };
    }),
  );
}

/** A transcript in which no two items share a part id. An item with an id that is taken gets new ids. */
export function uniqueParts(transcript: Transcript): Transcript {
  const taken = new Set<PartId>();
  return transcript.map((item) => {
    const isNew = item.parts.every(({ id }) => !taken.has(id));
    const parts = isNew ? item.parts : numberedParts(item.id, item.parts);
    for (const { id } of parts) taken.add(id);
    return isNew ? item : { ...item, parts };
  });
}
