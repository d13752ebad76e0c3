import { encodeBase64 } from "@millrace/core/json";
import type { FilePart, JsonObject, MediaPart, TextPart, ToolResultPart } from "@millrace/core";
import { attachmentOf, fileIdOf, inlined, nameOf, refuse, textOf } from "../attachment.ts";
import type { Attachment, Vendor } from "../attachment.ts";
import { givenOptions } from "../given-options.ts";
import { optionsOf, usualRules } from "../part-options.ts";
import type { UserPart } from "../prepare.ts";
import { objectOf } from "./events.ts";

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

/** What of the options of parts is sent. */
export interface ContentRules {
  /** Marks of what is to be kept are sent. If not, the vendor keeps prompts by itself. */
  readonly breakpoints: boolean;
}

/** Converts a part of a user turn to content parts. */
export function contentOf(part: UserPart, { breakpoints }: ContentRules): readonly JsonObject[] {
  const written = part.kind === "text" ? textOfUser(part) : attached(part);
  const last = written.at(-1);
  if (!breakpoints || last === undefined || !isMarked(part)) return written;
  return written.with(written.length - 1, { ...last, prompt_cache_breakpoint: breakpoint });
}

/** True if the options of a part ask that the request up to it is kept. */
function isMarked(part: UserPart): boolean {
  return objectOf(givenOptions(part))?.["cache"] === true;
}

const breakpoint: JsonObject = { mode: "explicit" };

/** A text, whose options say nothing that is not taken. */
function textOfUser(part: TextPart): readonly JsonObject[] {
  checkOptions(part);
  return [textContent(part.text)];
}

/** Refuses options of a part that is sent as text. */
export function checkOptions(part: TextPart | ToolResultPart): void {
  optionsOf(part, vendor.name, usualRules);
}

function attached(part: MediaPart | FilePart): readonly JsonObject[] {
  const given = attachmentOf(part, vendor);
  const isImage = given.type.startsWith("image/");
  const rules = isImage ? { ...usualRules, detail: true as const } : usualRules;
  const { detail } = optionsOf(part, vendor.name, rules);
  const document = documentOf(given);
  if (document !== undefined) return [document];
  const content = imageOf(given, detail) ?? soundOf(given) ?? keptOf(given);
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

function imageOf(
  { type, bytes, url }: Attachment,
  detail: string | undefined,
): JsonObject | undefined {
  if (url !== undefined) {
    const isImage = imageTypes.has(type) || type === "image/*";
    return isImage && /^https?:\/\/\S+$/.test(url) ? imageAt(url, detail) : undefined;
  }
  if (!imageTypes.has(type) || bytes.length === 0) return undefined;
  return imageAt(`data:${type};base64,${encodeBase64(bytes)}`, detail);
}

function imageAt(url: string, detail: string | undefined): JsonObject {
  return { type: "image_url", image_url: detail === undefined ? { url } : { url, detail } };
}

/** A file that the vendor keeps. Images are not taken by their id. */
function keptOf(given: Attachment): JsonObject | undefined {
  const id = fileIdOf(given, "openai");
  const isFile = !/^(?:image|audio|video)\//.test(given.type);
  return id !== undefined && isFile ? { type: "file", file: { file_id: id } } : undefined;
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
