import { encodeBase64 } from "@millrace/core/wire";
import type { FilePart, JsonObject, MediaPart, ToolResultPart } from "@millrace/core";
import { resultText } from "../prepare.ts";
import type { Answer, UserPart } from "../prepare.ts";

/** Converts user parts to the vendor's content parts. */
export function inputContent(parts: readonly UserPart[]): readonly JsonObject[] {
  return parts.map((part) =>
    part.kind === "text" ? { type: "input_text", text: part.text } : attachment(part),
  );
}

/** The output of a tool. The vendor has no error flag, so the text has to show the error. */
export function outputOf({ result, parts }: Answer): string | readonly JsonObject[] {
  const text = resultText(result satisfies ToolResultPart);
  return parts.length === 0 ? text : [{ type: "input_text", text }, ...inputContent(parts)];
}

const pictures: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

function attachment(part: MediaPart | FilePart): JsonObject {
  const mediaType = part.mediaType.toLowerCase();
  const url = addressOf(part, mediaType);
  if (url !== undefined && pictures.has(mediaType)) {
    return { type: "input_image", detail: "auto", image_url: url };
  }
  if (url !== undefined && mediaType === "application/pdf") {
    return part.url === undefined
      ? { type: "input_file", filename: fileName(part), file_data: url }
      : { type: "input_file", file_url: url };
  }
  return { type: "input_text", text: standIn(part) };
}

/**
 * A URL that the vendor can read: the part's, or its bytes as a data URL. Undefined if there is
 * none.
 */
function addressOf(part: MediaPart | FilePart, mediaType: string): string | undefined {
  if (part.url !== undefined) return /^https?:\/\/\S+$/.test(part.url) ? part.url : undefined;
  if (part.bytes.length === 0) return undefined;
  return `data:${mediaType};base64,${encodeBase64(part.bytes)}`;
}

/** A text that describes a part which can't be sent. */
export function standIn(part: MediaPart | FilePart): string {
  const name = part.kind === "file" ? `file ${part.name}` : "media";
  const where = part.url === undefined ? `${part.bytes.length} bytes` : part.url;
  return `[${name}, ${part.mediaType}, ${where}]`;
}

function fileName(part: MediaPart | FilePart): string {
  return part.kind === "file" && part.name !== "" ? part.name : "file.pdf";
}
