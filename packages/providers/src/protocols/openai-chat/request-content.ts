import { encodeBase64 } from "@millrace/core/json";
import type { FilePart, JsonObject, MediaPart } from "@millrace/core";
import { attachmentOf, inlined, nameOf, refuse, textOf } from "../attachment.ts";
import type { Attachment, Vendor } from "../attachment.ts";
import type { UserPart } from "../prepare.ts";

const vendor: Vendor = {
  name: "A chat completions API",
  takes: "PDF, PNG, JPEG, GIF, WebP, WAV, MP3 and text",
};

const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const soundFormats = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"],
]);

/** Converts a part of a user turn to content parts. */
export function contentOf(part: UserPart): readonly JsonObject[] {
  if (part.kind === "text") return [textContent(part.text)];
  const given = attachmentOf(part, vendor);
  const document = documentOf(given);
  if (document !== undefined) return [document];
  const content = imageOf(given) ?? soundOf(given);
  if (content !== undefined) return [...label(part), content];
  // The vendor's guide: the text of other files goes as text.
  const text = textOf(given);
  if (text === undefined) throw refuse(given, vendor);
  return [textContent(inlined(given, text))];
}

export function textContent(text: string): JsonObject {
  return { type: "text", text };
}

/** The name of a file, for content that has no field for it. */
function label(part: MediaPart | FilePart): readonly JsonObject[] {
  const name = nameOf(part);
  return name === "" ? [] : [textContent(`${name}:`)];
}

function imageOf({ type, bytes, url }: Attachment): JsonObject | undefined {
  if (url !== undefined) {
    const isImage = imageTypes.has(type) || type === "image/*";
    return isImage && /^https?:\/\/\S+$/.test(url) ? imageAt(url) : undefined;
  }
  if (!imageTypes.has(type) || bytes.length === 0) return undefined;
  return imageAt(`data:${type};base64,${encodeBase64(bytes)}`);
}

function imageAt(url: string): JsonObject {
  return { type: "image_url", image_url: { url } };
}

function soundOf({ type, bytes }: Attachment): JsonObject | undefined {
  const format = soundFormats.get(type);
  if (format === undefined || bytes === undefined || bytes.length === 0) return undefined;
  return { type: "input_audio", input_audio: { data: encodeBase64(bytes), format } };
}

function documentOf({ part, type, bytes }: Attachment): JsonObject | undefined {
  if (type !== "application/pdf" || bytes === undefined || bytes.length === 0) return undefined;
  const name = nameOf(part);
  const data = `data:application/pdf;base64,${encodeBase64(bytes)}`;
  return { type: "file", file: { filename: name === "" ? "file.pdf" : name, file_data: data } };
}
