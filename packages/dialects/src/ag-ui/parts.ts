import type { Json, JsonObject, Part } from "@millrace/core";
import type { BlobScope } from "@millrace/core/ports";
import { isJsonObject } from "@millrace/core/wire";
import { messageField } from "./encode/user-messages.ts";
import { attachmentsOf, Problem, sentParts } from "@millrace/server/dialect";
import type { RouteContext } from "@millrace/server/dialect";
import { filePart } from "../shared/sent-part.ts";
import type { NewMessage } from "./body.ts";

/** The parts of what a person wrote, with files stored. What can't be stored is refused, not left out. */
export async function storedParts(
  context: RouteContext,
  place: BlobScope,
  messages: readonly NewMessage[],
): Promise<readonly Part[]> {
  const parts: JsonObject[] = [];
  for (const { message, pointer } of messages) {
    const { id, name, metadata, content, encryptedValue, subagentRunId } = message;
    if (encryptedValue !== undefined || subagentRunId !== undefined) {
      const detail = "a person's message has no encryptedValue and no subagentRunId";
      throw new Problem("invalid_request", detail, { pointer });
    }
    const [first, ...others] = await contentParts(context, place, content, `${pointer}/content`);
    const given = {
      ...(name === undefined ? {} : { name }),
      ...(metadata === undefined ? {} : { metadata }),
    };
    parts.push({ ...first, metadata: { [messageField]: { id, ...given } } }, ...others);
  }
  return sentParts({ kind: "prompt", parts }, attachmentsOf(context, place));
}

async function contentParts(
  context: RouteContext,
  place: BlobScope,
  content: Json | undefined,
  pointer: string,
): Promise<readonly JsonObject[]> {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  if (!Array.isArray(content) || content.length === 0)
    throw new Problem("invalid_request", "content is text, or a list of parts", { pointer });
  const parts: JsonObject[] = [];
  for (const [at, part] of (content as readonly Json[]).entries())
    parts.push(await contentPart(context, place, part, `${pointer}/${at}`));
  return parts;
}

const files = new Set<unknown>(["image", "audio", "video", "document", "binary"]);

async function contentPart(
  context: RouteContext,
  place: BlobScope,
  part: Json,
  pointer: string,
): Promise<JsonObject> {
  const { type, text, source, metadata } = isJsonObject(part) ? part : {};
  if (type === "text" && typeof text === "string") return { kind: "text", text };
  if (!isJsonObject(part) || !files.has(type)) {
    const detail = `a person's message has parts of text, image, audio, video and document, not ${JSON.stringify(type)}`;
    throw new Problem("invalid_request", detail, { pointer });
  }
  // Before 1.0 a file was one part of type binary.
  const { mimeType, value, filename } =
    type === "binary" ? ofBinary(part) : ofSource(source, metadata);
  if (typeof value === "string" && typeof mimeType === "string")
    return filePart(context, place, { mediaType: mimeType, url: value, filename }, pointer);
  const detail =
    "a file has a mimeType, and its bytes or a url: a handle of a vendor can't be read here";
  throw new Problem("invalid_request", detail, { pointer });
}

interface SentFile {
  readonly mimeType: Json | undefined;
  /** An address, or the bytes as a data URL. */
  readonly value: Json | undefined;
  readonly filename: Json;
}

function ofSource(source: Json | undefined, metadata: Json | undefined): SentFile {
  const { type, value, mimeType } = isJsonObject(source) ? source : {};
  const filename = (isJsonObject(metadata) ? metadata["filename"] : undefined) ?? "";
  if (type === "data") return { mimeType, value: dataUrl(mimeType, value), filename };
  return { mimeType, value: type === "url" ? value : undefined, filename };
}

function ofBinary({ mimeType, data, url, filename = "" }: JsonObject): SentFile {
  return { mimeType, value: data === undefined ? url : dataUrl(mimeType, data), filename };
}

function dataUrl(mimeType: Json | undefined, base64: Json | undefined): string | undefined {
  if (typeof mimeType !== "string" || typeof base64 !== "string") return undefined;
  return `data:${mimeType};base64,${base64}`;
}
