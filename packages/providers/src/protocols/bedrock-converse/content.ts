import { encodeBase64 } from "@millrace/core/json";
import type { FilePart, JsonObject, MediaPart, ToolResultPart } from "@millrace/core";
import type { PartOptions } from "@millrace/core/ports";
import { attachmentOf, inlined, isTextType, nameOf, refuse, textOf } from "../attachment.ts";
import type { Attachment, Vendor } from "../attachment.ts";
import { isBlank } from "../anthropic-messages/events.ts";
import { officeTypes } from "../media-type.ts";
import { optionsOf } from "../part-options.ts";
import type { OptionRules } from "../part-options.ts";
import type { UserPart } from "../prepare.ts";
import { keepsPrompts } from "./settings.ts";

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

/** The mark behind a part that is to be kept. Its time to live is that of the settings (cache.ts). */
export const cachePoint: JsonObject = { cachePoint: { type: "default" } };

const usual: OptionRules = {
  detail: "this API has no levels of detail: scale the image before it is passed",
  citations: "documents are cited, and nothing else: leave the option out",
  cache: true,
  context: "it is for documents: leave the option out",
};

/** Converts parts of users and of tools. One for each request, because it keeps names apart. */
export class Content {
  /** The vendor refuses two documents of one name. */
  readonly #names = new Set<string>();
  readonly #rules: OptionRules;

  constructor(model: string) {
    const noCache = "the model is not known to keep prompts: use Claude or Nova, or leave it out";
    this.#rules = keepsPrompts(model) ? usual : { ...usual, cache: noCache };
  }

  /** True if a result is marked to be kept. Throws for options that it can't have. */
  isMarked(result: ToolResultPart): boolean {
    return optionsOf(result, vendor.name, this.#rules).cache === true;
  }

  blocksOf(part: UserPart): readonly JsonObject[] {
    const isDocument = part.kind !== "text" && !/^(?:image|video|audio)\//.test(part.mediaType);
    const more = isDocument ? ({ citations: true, context: true } as const) : {};
    const options = optionsOf(part, vendor.name, { ...this.#rules, ...more });
    const blocks =
      part.kind === "text"
        ? textBlocks(part.text)
        : this.#attached(attachmentOf(part, vendor), options);
    return options.cache === true && blocks.length > 0 ? [...blocks, cachePoint] : blocks;
  }

  #attached(given: Attachment, options: PartOptions): readonly JsonObject[] {
    const { part, type } = given;
    const about = documentOptions(options);
    for (const kind of ["image", "video", "audio", "document"] as const) {
      const format = formats[kind].get(type);
      if (format === undefined) continue;
      const source = sourceOf(given);
      // A text with a charset of its own is decoded below.
      if (isTextType(type) && given.bytes !== undefined) break;
      if (kind === "document") return this.#document(part, { format, source, ...about });
      return [...label(part), { [kind]: { format, source } }];
    }
    if (given.url !== undefined && isTextType(type)) {
      return this.#document(part, { format: "txt", source: sourceOf(given), ...about });
    }
    const text = textOf(given);
    if (text === undefined) throw refuse(given, vendor);
    // The vendor refuses a document without text.
    if (isBlank(text)) return textBlocks(inlined(given, text));
    const bytes = encodeBase64(new TextEncoder().encode(text.toWellFormed()));
    const format = formats.document.get(type) ?? "txt";
    return this.#document(part, { format, source: { bytes }, ...about });
  }

  /** A document with the file's own name before it: the vendor wants a text beside each, and limits names. */
  #document(part: MediaPart | FilePart, fields: JsonObject): readonly JsonObject[] {
    const own = nameOf(part);
    const name = this.#unique(legalDocument(own));
    const said = own === "" || isBlank(own) ? name : own;
    return [{ text: `${said}:` }, { document: { name, ...fields } }];
  }

  #unique(base: string): string {
    let name = base;
    for (let number = 2; this.#names.has(name); number += 1) name = `${base} (${number})`;
    this.#names.add(name);
    return name;
  }
}

function documentOptions({ citations, context }: PartOptions): JsonObject {
  return {
    ...(citations === undefined ? {} : { citations: { enabled: citations } }),
    ...(context === undefined ? {} : { context }),
  };
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
