import { encodeBase64 } from "@millrace/core/json";
import type { FilePart, JsonObject, MediaPart, TextPart, ToolResultPart } from "@millrace/core";
import { attachmentOf, inlined, isTextType, nameOf, refuse, textOf } from "../attachment.ts";
import type { Vendor } from "../attachment.ts";
import { optionsOf, usualRules } from "../part-options.ts";
import type { UserPart } from "../prepare.ts";

/** Media types that the vendor reads. It refuses others. */
const readable: ReadonlySet<string> = new Set([
  "application/pdf",
  ...typesOf("image", "heic heif jpeg png webp"),
  ...typesOf("audio", "aac aiff flac m4a mp3 mp4 mpeg ogg opus wav webm x-wav"),
  ...typesOf("video", "3gpp avi mov mp4 mpeg mpg quicktime webm wmv x-flv"),
]);

function typesOf(kind: string, names: string): readonly string[] {
  return names.split(" ").map((name) => `${kind}/${name}`);
}

const vendor: Vendor = {
  name: "Gemini's API",
  takes: "PDF, PNG, JPEG, WebP, HEIC, common types of sound and video, and text",
};

/** Converts media or a file to request parts: its data, and before it the name, which data has no field for. */
export function mediaParts(part: MediaPart | FilePart): readonly JsonObject[] {
  const name = nameOf(part);
  return [...(name === "" ? [] : [{ text: `${name}:` }]), mediaPart(part)];
}

/** As `mediaParts`, for a part of the user or a tool, with its options. `levels`: the model has levels of detail for parts. */
export function givenParts(part: UserPart, levels: boolean): readonly JsonObject[] {
  if (part.kind === "text") {
    checkOptions(part);
    return [{ text: part.text }];
  }
  const isSeen = /^(?:image|video)\/|pdf$/i.test(part.mediaType);
  const detailRule = levels || "set generationConfig.mediaResolution, which holds for all parts";
  const rules = { ...usualRules, ...(isSeen ? { detail: detailRule } : {}) };
  const { detail = "auto" } = optionsOf(part, vendor.name, rules);
  const parts = mediaParts(part);
  const last = parts.at(-1);
  if (detail === "auto" || last === undefined) return parts;
  const level = `MEDIA_RESOLUTION_${detail.toUpperCase()}`;
  return parts.with(parts.length - 1, { ...last, mediaResolution: { level } });
}

/** Refuses options of a part that is sent as text. The vendor keeps prompts by itself. */
export function checkOptions(part: TextPart | ToolResultPart): void {
  optionsOf(part, vendor.name, usualRules);
}

/** Converts media or a file to the part with its data. */
export function mediaPart(part: MediaPart | FilePart): JsonObject {
  const given = attachmentOf(part, vendor);
  const { type, bytes, url } = given;
  if (url !== undefined) {
    // The vendor reads every type of text as plain text.
    const mimeType = isTextType(type) ? "text/plain" : type;
    if (!isReadable(mimeType) || !/^(?:https?|gs):\/\/\S+$/.test(url)) throw refuse(given, vendor);
    return { fileData: { mimeType, fileUri: url } };
  }
  if (readable.has(type) && bytes.length > 0) return inlineData(type, bytes);
  const text = textOf(given);
  if (text === undefined) throw refuse(given, vendor);
  return text === "" ? { text: inlined(given, text) } : inlineData("text/plain", utf8(text));
}

function inlineData(mimeType: string, bytes: Uint8Array): JsonObject {
  return { inlineData: { mimeType, data: encodeBase64(bytes) } };
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function isReadable(type: string): boolean {
  return type === "text/plain" || readable.has(type);
}
