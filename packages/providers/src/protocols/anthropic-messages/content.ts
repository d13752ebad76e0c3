import { encodeBase64 } from "@millrace/core/json";
import type { FilePart, JsonObject, MediaPart } from "@millrace/core";
import { attachmentOf, inlined, nameOf, refuse, textOf } from "../attachment.ts";
import type { Attachment, Vendor } from "../attachment.ts";
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
  return part.kind === "text" ? textBlocks(part.text) : attached(attachmentOf(part, vendor));
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Blocks of an image or a document. A text is a document with plain text. */
function attached(given: Attachment): readonly JsonObject[] {
  const { part, type } = given;
  const isImage = imageTypes.includes(type);
  if (isImage || type === "application/pdf") {
    const source = bytesOrAddress(given);
    if (source === undefined) throw refuse(given, vendor);
    if (!isImage) return [{ type: "document", source, ...titleOf(part) }];
    const name = nameOf(part);
    return [...(name === "" ? [] : textBlocks(`${name}:`)), { type: "image", source }];
  }
  const text = textOf(given);
  if (text === undefined) throw refuse(given, vendor);
  // The vendor refuses a document without text.
  if (isBlank(text)) return textBlocks(inlined(given, text));
  const source = { type: "text", media_type: "text/plain", data: text.toWellFormed() };
  return [{ type: "document", source, ...titleOf(part) }];
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
