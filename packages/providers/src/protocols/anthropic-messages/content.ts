import { encodeBase64 } from "@millrace/core/wire";
import type { FilePart, JsonObject, MediaPart } from "@millrace/core";
import type { UserPart } from "../prepare.ts";
import { isBlank } from "./events.ts";

/** A text block, or none: the vendor refuses text that is only white space. */
export function textBlocks(text: string): readonly JsonObject[] {
  return isBlank(text) ? [] : [{ type: "text", text: text.toWellFormed() }];
}

/** Converts a part of a user turn, or one beside a tool's result. */
export function userBlocks(part: UserPart): readonly JsonObject[] {
  if (part.kind === "text") return textBlocks(part.text);
  return [attachment(part) ?? standIn(part)];
}

/** A text that describes a part which the vendor does not take. */
export function standIn(part: MediaPart | FilePart): JsonObject {
  const label = part.kind === "file" ? `file ${part.name}` : "media";
  const where =
    part.url === undefined ? `${part.bytes.length} bytes` : `at ${part.url.slice(0, 200)}`;
  return { type: "text", text: `[${label}, ${part.mediaType}, ${where}]`.toWellFormed() };
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** An image or document block, or undefined for a type that the vendor does not take. */
function attachment(part: MediaPart | FilePart): JsonObject | undefined {
  const { type, data, url } = sourceOf(part);
  const isImage = imageTypes.includes(type);
  const isDocument = type === "application/pdf";
  if (isImage || isDocument) {
    const source = bytesOrAddress(type, data, url);
    if (source === undefined) return undefined;
    return isImage ? { type: "image", source } : { type: "document", source, ...titleOf(part) };
  }
  const text = type.startsWith("text/") && part.bytes !== undefined ? readText(part.bytes) : "";
  if (isBlank(text)) return undefined;
  const source = { type: "text", media_type: "text/plain", data: text };
  return { type: "document", source, ...titleOf(part) };
}

function bytesOrAddress(
  type: string,
  data: string | undefined,
  url: string | undefined,
): JsonObject | undefined {
  if (data !== undefined)
    return data === "" ? undefined : { type: "base64", media_type: type, data };
  return url === undefined ? undefined : { type: "url", url };
}

interface FoundSource {
  readonly type: string;
  readonly data?: string;
  readonly url?: string;
}

const dataUrl = /^data:([^;,]+)(?:;[^;,]*)*;base64,([A-Za-z0-9+/]+={0,2})$/s;
const safeUrl = /^https:\/\/\S+$/;

/**
 * The media type in the vendor's spelling, with the bytes in base64 or a URL that the vendor
 * fetches.
 */
function sourceOf(part: MediaPart | FilePart): FoundSource {
  const declared = spelled(part.mediaType);
  if (part.bytes !== undefined) {
    const type = imageTypes.includes(declared) ? (sniffed(part.bytes) ?? declared) : declared;
    const wanted = imageTypes.includes(type) || type === "application/pdf";
    return wanted ? { type, data: encodeBase64(part.bytes) } : { type };
  }
  const [, inner, data] = dataUrl.exec(part.url) ?? [];
  if (inner !== undefined && data !== undefined && data.length % 4 === 0) {
    return { type: spelled(inner), data };
  }
  return safeUrl.test(part.url) && part.url.isWellFormed()
    ? { type: declared, url: part.url }
    : { type: declared };
}

function spelled(mediaType: string): string {
  const [type = ""] = mediaType.toLowerCase().split(";");
  return type.trim() === "image/jpg" ? "image/jpeg" : type.trim();
}

/**
 * The image type by the first bytes. The vendor refuses an image whose type does not match its
 * bytes.
 */
function sniffed(bytes: Uint8Array): string | undefined {
  const starts = (at: number, ...letters: readonly number[]): boolean =>
    letters.every((letter, offset) => bytes[at + offset] === letter);
  if (starts(0, 0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (starts(0, 0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0, 0x47, 0x49, 0x46, 0x38)) return "image/gif";
  if (starts(0, 0x52, 0x49, 0x46, 0x46) && starts(8, 0x57, 0x45, 0x42, 0x50)) return "image/webp";
  return undefined;
}

function readText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return ""; // the bytes are not UTF-8 text
  }
}

function titleOf(part: MediaPart | FilePart): JsonObject {
  const title = part.kind === "file" ? part.name.slice(0, 200).toWellFormed() : "";
  return isBlank(title) ? {} : { title };
}
