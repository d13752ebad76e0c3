import { encodeBase64 } from "@millrace/core/json";
import type { FilePart, JsonObject, MediaPart, ToolResultPart } from "@millrace/core";
import type { PartOptions } from "@millrace/core/ports";
import {
  attachmentOf,
  fileIdOf,
  inlined,
  isTextType,
  nameOf,
  refuse,
  textOf,
} from "../attachment.ts";
import type { Attachment, Vendor } from "../attachment.ts";
import { optionsOf } from "../part-options.ts";
import type { OptionRules } from "../part-options.ts";
import type { UserPart } from "../prepare.ts";
import { isBlank } from "./events.ts";

const vendor: Vendor = {
  name: "Anthropic's Messages API",
  takes: "PDF, PNG, JPEG, GIF, WebP and text",
};

/** A text block, or none: the vendor refuses text that is only white space. */
export function textBlocks(text: string): readonly JsonObject[] {
  return isBlank(text) ? [] : [{ type: "text", text: text.toWellFormed() }];
}

/** Converts a part of a user turn, or one beside a tool's result. */
export function userBlocks(part: UserPart): readonly JsonObject[] {
  const options = optionsOf(part, vendor.name, rulesOf(part));
  const blocks = part.kind === "text" ? textBlocks(part.text) : attached(part, options);
  const last = blocks.at(-1);
  if (options.cache !== true || last === undefined) return blocks;
  return blocks.with(blocks.length - 1, { ...last, cache_control: breakpoint });
}

/** True if a result is marked to be kept. Throws for options that it can't have. */
export function isMarkedResult(result: ToolResultPart): boolean {
  return optionsOf(result, vendor.name, textRules).cache === true;
}

/** The mark behind a part that is to be kept. Its time to live is that of the settings (cache.ts). */
export const breakpoint: JsonObject = { type: "ephemeral" };

const textRules: OptionRules = {
  detail: "this API has no levels of detail: scale the image before it is passed",
  citations: "documents are cited, and nothing else: leave the option out",
  cache: true,
  context: "it is for documents: leave the option out",
};
const documentRules: OptionRules = { ...textRules, citations: true, context: true };

function rulesOf(part: UserPart): OptionRules {
  return part.kind === "text" || part.mediaType.startsWith("image/") ? textRules : documentRules;
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Blocks of an image or a document. A text is a document with plain text. */
function attached(part: MediaPart | FilePart, options: PartOptions): readonly JsonObject[] {
  const given = attachmentOf(part, vendor);
  const { type } = given;
  const isImage = imageTypes.includes(type);
  const id = fileIdOf(given, "anthropic");
  const label = nameOf(part) === "" ? [] : textBlocks(`${nameOf(part)}:`);
  const about = { ...titleOf(part), ...documentOptions(options) };
  if (isImage || type === "application/pdf" || (id !== undefined && isTextType(type))) {
    const source = id === undefined ? bytesOrAddress(given) : { type: "file", file_id: id };
    if (source === undefined) throw refuse(given, vendor);
    return isImage
      ? [...label, { type: "image", source }]
      : [{ type: "document", source, ...about }];
  }
  // For the vendor's code, which reads files of any type.
  if (id !== undefined) return [...label, { type: "container_upload", file_id: id }];
  const text = textOf(given);
  if (text === undefined) throw refuse(given, vendor);
  // The vendor refuses a document without text.
  if (isBlank(text)) return textBlocks(inlined(given, text));
  const source = { type: "text", media_type: "text/plain", data: text.toWellFormed() };
  return [{ type: "document", source, ...about }];
}

function documentOptions({ citations, context }: PartOptions): JsonObject {
  return {
    ...(citations === undefined ? {} : { citations: { enabled: citations } }),
    ...(context === undefined ? {} : { context }),
  };
}

function bytesOrAddress({ type, bytes, url }: Attachment): JsonObject | undefined {
  if (url !== undefined) {
    const isSafe = /^https:\/\/\S+$/.test(url) && url.isWellFormed();
    return isSafe ? { type: "url", url } : undefined;
  }
  if (bytes.length === 0) return undefined;
  return { type: "base64", media_type: type, data: encodeBase64(bytes) };
}

function titleOf(part: MediaPart | FilePart): JsonObject {
  const title = nameOf(part).slice(0, 500).toWellFormed();
  return isBlank(title) ? {} : { title };
}
