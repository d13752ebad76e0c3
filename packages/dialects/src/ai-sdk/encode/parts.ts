import type { Json, Part, ViewPart } from "@millrace/core";
import { urlOf } from "../../shared/encode/file-url.ts";
import type { BlobUrl } from "../../shared/encode/file-url.ts";
import type { Chunk, UserPart } from "./chunks.ts";

/** A part that has no words of its own in the dialect, as a part of data. Undefined: nothing to show yet. */
export function dataOf(
  itemId: string,
  part: Extract<ViewPart, { kind: "structured" | "custom" }>,
): (Chunk & { readonly data: Json }) | undefined {
  const { id, value } = part;
  if (value === undefined) return undefined;
  const name = part.kind === "custom" ? part.name : part.kind;
  // One id of a type for each part of the message: the same would replace the one before.
  return { type: `data-${name}`, id: `${itemId}.${id}`, data: value };
}

/** What a person sent, as the parts of their message. What it can't say is left out. */
export function userParts(parts: readonly Part[], blobUrl: BlobUrl): readonly UserPart[] {
  return parts.flatMap((part): UserPart[] => {
    switch (part.kind) {
      case "text":
        return [{ type: "text", text: part.text }];
      case "media":
      case "file": {
        const url = urlOf(part, blobUrl) ?? "";
        const name = part.kind === "file" ? { filename: part.name } : {};
        return [{ type: "file", url, mediaType: part.mediaType, ...name }];
      }
      case "structured":
        return [{ type: "data-structured", data: part.value }];
      case "custom":
        return [{ type: `data-${part.name}`, data: part.value }];
      case "reasoning":
      case "tool_call":
      case "tool_result":
      case "opaque":
        return [];
      default:
        part satisfies never;
        return [];
    }
  });
}
