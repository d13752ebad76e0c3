import { encodeBase64 } from "@millrace/core/json";
import type { JsonObject, ToolResultPart } from "@millrace/core";
import { attachmentOf, inlined, isTextType, nameOf, refuse, textOf } from "../attachment.ts";
import type { Attachment, Vendor } from "../attachment.ts";
import { officeTypes } from "../media-type.ts";
import { resultText } from "../prepare.ts";
import type { Answer, UserPart } from "../prepare.ts";

const vendor: Vendor = {
  name: "OpenAI's Responses API",
  takes: "PDF, PNG, JPEG, GIF, WebP, documents of office programs and text",
};

/** Converts user parts to the vendor's content parts. */
export function inputContent(parts: readonly UserPart[]): readonly JsonObject[] {
  return parts.flatMap((part) =>
    part.kind === "text" ? [textContent(part.text)] : attached(attachmentOf(part, vendor)),
  );
}

function textContent(text: string): JsonObject {
  return { type: "input_text", text };
}

/** The output of a tool. The vendor has no error flag, so the text has to show the error. */
export function outputOf({ result, parts }: Answer): string | readonly JsonObject[] {
  const text = resultText(result satisfies ToolResultPart);
  return parts.length === 0 ? text : [textContent(text), ...inputContent(parts)];
}

const pictures: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

function attached(given: Attachment): readonly JsonObject[] {
  const name = nameOf(given.part);
  const content = pictureOf(given) ?? fileOf(given, name);
  if (content !== undefined) {
    // Images, and files by their address, have no field for a name.
    const isNamed = name === "" || Object.hasOwn(content, "filename");
    return isNamed ? [content] : [textContent(`${name}:`), content];
  }
  // As text, because of a table sent as a file the vendor reads a thousand rows and no more.
  const text = textOf(given);
  if (text === undefined) throw refuse(given, vendor);
  return [textContent(inlined(given, text))];
}

function pictureOf({ type, bytes, url }: Attachment): JsonObject | undefined {
  const isPicture = pictures.has(type) || (url !== undefined && type === "image/*");
  const address = url === undefined ? dataUrl(type, bytes) : isWeb(url) ? url : undefined;
  if (!isPicture || address === undefined) return undefined;
  return { type: "input_image", detail: "auto", image_url: address };
}

function fileOf({ type, bytes, url }: Attachment, name: string): JsonObject | undefined {
  const extension = type === "application/pdf" ? "pdf" : officeTypes.get(type);
  if (url !== undefined) {
    const isFile = extension !== undefined || isTextType(type);
    return isFile && isWeb(url) ? { type: "input_file", file_url: url } : undefined;
  }
  const data = dataUrl(type, bytes);
  if (extension === undefined || data === undefined) return undefined;
  const filename = name === "" ? `file.${extension}` : name;
  return { type: "input_file", filename, file_data: data };
}

function isWeb(url: string): boolean {
  return /^https?:\/\/\S+$/.test(url);
}

function dataUrl(type: string, bytes: Uint8Array): string | undefined {
  return bytes.length === 0 ? undefined : `data:${type};base64,${encodeBase64(bytes)}`;
}
