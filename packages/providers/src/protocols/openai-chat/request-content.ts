import { encodeBase64 } from "@millrace/core/wire";
import type { FilePart, JsonObject, MediaPart } from "@millrace/core";
import type { UserPart } from "../prepare.ts";

const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const soundFormats = new Map([
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/wave", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"],
]);

/** Converts a part of a user turn to a content part. */
export function contentOf(part: UserPart): JsonObject {
  if (part.kind === "text") return textContent(part.text);
  return imageOf(part) ?? soundOf(part) ?? documentOf(part) ?? textContent(standIn(part));
}

export function textContent(text: string): JsonObject {
  return { type: "text", text };
}

/** A text that describes content which the vendor does not take. */
export function standIn(part: MediaPart | FilePart): string {
  const name = part.kind === "file" ? part.name : "media";
  const size = part.bytes === undefined ? part.url : `${part.bytes.length} bytes`;
  return `[file ${name}, ${part.mediaType}, ${size}]`;
}

function typeOf({ mediaType }: MediaPart | FilePart): string {
  const [type = ""] = mediaType.toLowerCase().split(";");
  return type.trim() === "image/jpg" ? "image/jpeg" : type.trim();
}

function imageOf(part: MediaPart | FilePart): JsonObject | undefined {
  const type = typeOf(part);
  if (part.bytes !== undefined) {
    if (!imageTypes.has(type) || part.bytes.length === 0) return undefined;
    return imageAt(`data:${type};base64,${encodeBase64(part.bytes)}`);
  }
  const isImage = imageTypes.has(type) || type === "image/*";
  return isImage && isAddress(part.url) ? imageAt(part.url) : undefined;
}

function imageAt(url: string): JsonObject {
  return { type: "image_url", image_url: { url } };
}

const dataUrl =
  /^data:image\/(?:png|jpeg|gif|webp);base64,(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function isAddress(url: string): boolean {
  return /^https?:\/\/\S+$/.test(url) || (dataUrl.test(url) && !url.endsWith(","));
}

function soundOf(part: MediaPart | FilePart): JsonObject | undefined {
  const format = soundFormats.get(typeOf(part));
  if (format === undefined || part.bytes === undefined || part.bytes.length === 0) return undefined;
  return { type: "input_audio", input_audio: { data: encodeBase64(part.bytes), format } };
}

function documentOf(part: MediaPart | FilePart): JsonObject | undefined {
  if (typeOf(part) !== "application/pdf") return undefined;
  if (part.bytes === undefined || part.bytes.length === 0) return undefined;
  const filename = part.kind === "file" && part.name.trim() !== "" ? part.name : "file.pdf";
  const data = `data:application/pdf;base64,${encodeBase64(part.bytes)}`;
  return { type: "file", file: { filename, file_data: data } };
}
