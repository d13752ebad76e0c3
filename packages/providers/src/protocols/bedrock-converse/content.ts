import { encodeBase64 } from "@millrace/core/wire";
import type { FilePart, JsonObject, MediaPart } from "@millrace/core";
import { attachmentOf, inlined, isTextType, nameOf, refuse, textOf } from "../attachment.ts";
import type { Attachment, Vendor } from "../attachment.ts";
import { isBlank } from "../anthropic-messages/events.ts";
import { officeTypes } from "../media-type.ts";
import type { UserPart } from "../prepare.ts";

const vendor: Vendor = {
  name: "Bedrock's Converse API",
  takes:
    "PNG, JPEG, GIF, WebP, PDF, Word, Excel, CSV, HTML, Markdown, text, common types of video and sound, and s3:// addresses of these",
};

/** The vendor's names of formats, by media types. */
const formats: Readonly<Record<"image" | "video" | "audio" | "document", FormatTable>> = {
  image: tableOf("image", "gif jpeg png webp"),
  video: new Map([
    ...tableOf("video", "mkv mov mp4 mpeg mpg webm wmv"),
    ["video/x-matroska", "mkv"],
    ["video/matroska", "mkv"],
    ["video/quicktime", "mov"],
    ["video/x-flv", "flv"],
    ["video/x-ms-wmv", "wmv"],
    ["video/3gpp", "three_gp"],
  ]),
  audio: new Map([
    ...tableOf("audio", "aac flac m4a mp3 mp4 ogg opus pcm wav webm"),
    ["audio/mpeg", "mp3"],
    ["audio/x-wav", "wav"],
    ["audio/x-flac", "flac"],
    ["audio/x-m4a", "m4a"],
    ["audio/x-aac", "x-aac"],
    ["audio/x-matroska", "mka"],
  ]),
  document: new Map([
    ["application/pdf", "pdf"],
    ["text/csv", "csv"],
    ["text/html", "html"],
    ["text/markdown", "md"],
    ...[...officeTypes].filter(([, extension]) => /^(?:doc|xls)x?$/.test(extension)),
  ]),
};

type FormatTable = ReadonlyMap<string, string>;

function tableOf(kind: string, names: string): FormatTable {
  return new Map(names.split(" ").map((name) => [`${kind}/${name}`, name]));
}

/** A text block, or none: the vendor refuses text that is only white space. */
export function textBlocks(text: string): readonly JsonObject[] {
  return isBlank(text) ? [] : [{ text: text.toWellFormed() }];
}

/** Converts parts of users and of tools. One for each request, because it keeps names apart. */
export class Content {
  /** The vendor refuses two documents of one name. */
  readonly #names = new Set<string>();

  blocksOf(part: UserPart): readonly JsonObject[] {
    return part.kind === "text"
      ? textBlocks(part.text)
      : this.#attached(attachmentOf(part, vendor));
  }

  #attached(given: Attachment): readonly JsonObject[] {
    const { part, type } = given;
    for (const kind of ["image", "video", "audio", "document"] as const) {
      const format = formats[kind].get(type);
      if (format === undefined) continue;
      const source = sourceOf(given);
      // A text with a charset of its own is decoded below.
      if (isTextType(type) && given.bytes !== undefined) break;
      if (kind === "document") return this.#document(part, format, source);
      return [...label(part), { [kind]: { format, source } }];
    }
    if (given.url !== undefined && isTextType(type)) {
      return this.#document(part, "txt", sourceOf(given));
    }
    const text = textOf(given);
    if (text === undefined) throw refuse(given, vendor);
    // The vendor refuses a document without text.
    if (isBlank(text)) return textBlocks(inlined(given, text));
    const bytes = encodeBase64(new TextEncoder().encode(text.toWellFormed()));
    return this.#document(part, formats.document.get(type) ?? "txt", { bytes });
  }

  /** A document with the file's own name before it: the vendor wants a text beside each, and limits names. */
  #document(part: MediaPart | FilePart, format: string, source: JsonObject): readonly JsonObject[] {
    const own = nameOf(part);
    const name = this.#unique(legalDocument(own));
    const said = own === "" || isBlank(own) ? name : own;
    return [{ text: `${said}:` }, { document: { format, name, source } }];
  }

  #unique(base: string): string {
    let name = base;
    for (let number = 2; this.#names.has(name); number += 1) name = `${base} (${number})`;
    this.#names.add(name);
    return name;
  }
}

/** A name that the vendor takes: letters, digits, single spaces, `-`, `()` and `[]`. */
function legalDocument(name: string): string {
  const legal = name
    .replaceAll(/[^a-zA-Z0-9\s()[\]-]+/g, "-")
    .replaceAll(/\s+/g, " ")
    .slice(0, 180)
    .trim();
  return /[a-zA-Z0-9]/.test(legal) ? legal : "document";
}

/** The name of a file, for content that has no field for it. */
function label(part: MediaPart | FilePart): readonly JsonObject[] {
  const name = nameOf(part);
  return name === "" ? [] : textBlocks(`${name}:`);
}

/** Bytes, or an address in S3: the vendor fetches from nowhere else. */
function sourceOf(given: Attachment): JsonObject {
  const { bytes, url } = given;
  if (bytes !== undefined && bytes.length > 0) return { bytes: encodeBase64(bytes) };
  if (url !== undefined && /^s3:\/\/[^/\s]+\/\S+$/.test(url)) return { s3Location: { uri: url } };
  throw refuse(given, vendor);
}
