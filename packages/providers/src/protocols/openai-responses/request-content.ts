import { encodeBase64 } from "@millrace/core/json";
import type { FilePart, JsonObject, MediaPart, TextPart, ToolResultPart } from "@millrace/core";
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
import { officeTypes } from "../media-type.ts";
import { takesBreakpoints } from "../openai-models.ts";
import { optionsOf, usualRules } from "../part-options.ts";
import { resultText } from "../prepare.ts";
import type { Answer, UserPart } from "../prepare.ts";

const vendor: Vendor = {
  name: "OpenAI's Responses API",
  takes: "PDF, PNG, JPEG, GIF, WebP, documents of office programs and text",
};

/** Converts user parts to the vendor's content parts. Marks of what is to be kept are sent if the model takes them. */
export function inputContent(parts: readonly UserPart[], model: string): readonly JsonObject[] {
  return parts.flatMap((part) => {
    const { written, isMarked } = part.kind === "text" ? textInput(part) : attached(part);
    const last = written.at(-1);
    if (!isMarked || last === undefined || !takesBreakpoints(model)) return written;
    const marked = { ...last, prompt_cache_breakpoint: { mode: "explicit" } };
    return written.with(written.length - 1, marked);
  });
}

/** What a part is in a request, and whether the request up to it is to be kept. */
interface Input {
  readonly written: readonly JsonObject[];
  readonly isMarked: boolean;
}

function textInput(part: TextPart): Input {
  const { cache = false } = optionsOf(part, vendor.name, usualRules);
  return { written: [textContent(part.text)], isMarked: cache };
}

function textContent(text: string): JsonObject {
  return { type: "input_text", text };
}

/** The output of a tool. The vendor has no error flag, so the text has to show the error. */
export function outputOf({ result, parts }: Answer, model: string): string | readonly JsonObject[] {
  // The vendor keeps results by itself.
  optionsOf(result, vendor.name, usualRules);
  const text = resultText(result satisfies ToolResultPart);
  return parts.length === 0 ? text : [textContent(text), ...inputContent(parts, model)];
}

const pictures: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

function attached(part: MediaPart | FilePart): Input {
  const given = attachmentOf(part, vendor);
  const isSeen = given.type.startsWith("image/") || given.type === "application/pdf";
  const rules = isSeen ? { ...usualRules, detail: true as const } : usualRules;
  const { detail, cache = false } = optionsOf(part, vendor.name, rules);
  return { written: attachedContent(given, detail), isMarked: cache };
}

function attachedContent(given: Attachment, detail: PartOptions["detail"]): readonly JsonObject[] {
  const name = nameOf(given.part);
  const content = pictureOf(given, detail) ?? fileOf(given, name);
  if (content !== undefined) {
    const shown = content["type"] === "input_file" && detail !== undefined ? { detail } : {};
    // Images, and files by their address, have no field for a name.
    const isNamed = name === "" || Object.hasOwn(content, "filename");
    return [...(isNamed ? [] : [textContent(`${name}:`)]), { ...content, ...shown }];
  }
  // As text, because of a table sent as a file the vendor reads a thousand rows and no more.
  const text = textOf(given);
  if (text === undefined) throw refuse(given, vendor);
  return [textContent(inlined(given, text))];
}

function pictureOf(
  given: Attachment,
  detail: PartOptions["detail"] = "auto",
): JsonObject | undefined {
  const { type, bytes, url } = given;
  const isPicture = pictures.has(type) || (url !== undefined && type === "image/*");
  if (!isPicture) return undefined;
  const id = fileIdOf(given, "openai");
  if (id !== undefined) return { type: "input_image", detail, file_id: id };
  const address = url === undefined ? dataUrl(type, bytes) : isWeb(url) ? url : undefined;
  return address === undefined ? undefined : { type: "input_image", detail, image_url: address };
}

function fileOf(given: Attachment, name: string): JsonObject | undefined {
  const { type, bytes, url } = given;
  const id = fileIdOf(given, "openai");
  const isFile = !/^(?:image|audio|video)\//.test(type);
  if (id !== undefined && isFile) return { type: "input_file", file_id: id };
  const extension = type === "application/pdf" ? "pdf" : officeTypes.get(type);
  if (url !== undefined) {
    const isKnown = extension !== undefined || isTextType(type);
    return isKnown && isWeb(url) ? { type: "input_file", file_url: url } : undefined;
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
