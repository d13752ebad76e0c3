import { decodeBase64, isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { Metadata, PartOpening } from "@millrace/core/writing";
import { takeCall } from "./calls.ts";
import { filledAt, isSound } from "../read.ts";
import { dataOf, signatureOf } from "./events.ts";
import type { Work } from "./work.ts";

/** Converts one part of the vendor's content to operations. */
export function takePart(work: Work, part: Json): void {
  if (!isJsonObject(part)) {
    work.fail("protocol", "a part is no object");
    return;
  }
  const signature = signatureOf(part);
  const data = dataOf(part);
  switch (data) {
    case undefined:
      // A signature may arrive without content. It keeps its place.
      if (signature !== undefined) takeText(work, part, "", signature);
      return;
    case "text": {
      const text = part["text"];
      if (typeof text === "string") takeText(work, part, text, signature);
      else work.fail("protocol", "the text of a part is no text");
      return;
    }
    case "functionCall":
      takeCall(work, part["functionCall"], signature);
      return;
    case "inlineData":
      takeBytes(work, part, signature);
      return;
    case "fileData":
      takeAddress(work, part, signature);
      return;
    default:
      takeCustom(work, part, data);
  }
}

/**
 * Reads text or thoughts. A signature arrives with the last piece of its text, even if that piece is
 * empty: without streaming both are in one part. So the signature ends the part and keeps its place
 * among the others.
 */
function takeText(
  work: Work,
  part: JsonObject,
  chunk: string,
  signature: string | undefined,
): void {
  const kind = part["thought"] === true ? "reasoning" : "text";
  if (signature === undefined) {
    if (chunk !== "") work.append(kind, chunk);
    return;
  }
  if (kind === "reasoning") {
    const partId = work.append(kind, chunk);
    work.push({ op: "close_part", partId, opaque: { thoughtSignature: signature } });
    work.reply.writing = undefined;
    return;
  }
  const metadata = { thoughtSignature: signature };
  if (chunk === "" && work.reply.writing?.kind !== "text") {
    const partId = work.begin({ kind });
    work.push({ op: "set_metadata", partId, metadata });
    work.push({ op: "close_part", partId });
    return;
  }
  const partId = work.append(kind, chunk);
  work.push({ op: "set_metadata", partId, metadata });
  work.reply.text = { id: partId, signature };
  work.reply.writing = undefined;
}

/** Raw samples arrive in many pieces of one sound; other media arrive whole. */
const samples = /^audio\/(?:l16|pcm)\b/i;

function takeBytes(work: Work, part: JsonObject, signature: string | undefined): void {
  const source = isJsonObject(part["inlineData"]) ? part["inlineData"] : {};
  const data = source["data"];
  const chunk = typeof data === "string" ? decodeBase64(data) : undefined;
  if (chunk === undefined) {
    work.fail("protocol", "the data of a part is no base64");
    return;
  }
  const mediaType = mediaTypeOf(source);
  const metadata = metadataOf(part, signature);
  const { writing } = work.reply;
  const streamed = samples.test(mediaType) && metadata === undefined;
  const goesOn = streamed && writing?.kind === "sound" && writing.mediaType === mediaType;
  const partId = goesOn ? writing.id : work.begin(openingOf(source, mediaType));
  if (chunk.length > 0) work.push({ op: "append_bytes", partId, chunk });
  if (streamed) {
    work.reply.writing = { kind: "sound", id: partId, mediaType };
    return;
  }
  if (metadata !== undefined) work.push({ op: "set_metadata", partId, metadata });
  work.push({ op: "close_part", partId });
}

/** Reads media that the vendor keeps at a URL. */
function takeAddress(work: Work, part: JsonObject, signature: string | undefined): void {
  const source = isJsonObject(part["fileData"]) ? part["fileData"] : {};
  const url = filledAt(source, "fileUri");
  if (url === undefined || !url.isWellFormed()) {
    work.fail("protocol", "the file of a part has no address");
    return;
  }
  const metadata = metadataOf(part, signature);
  const partId = work.begin(openingOf(source, mediaTypeOf(source)));
  if (metadata !== undefined) work.push({ op: "set_metadata", partId, metadata });
  work.push({ op: "close_part", partId, url });
}

function mediaTypeOf(source: JsonObject): string {
  return (filledAt(source, "mimeType") ?? "application/octet-stream").toWellFormed();
}

function openingOf(source: JsonObject, mediaType: string): PartOpening {
  if (/^(?:image|audio|video)\//i.test(mediaType)) return { kind: "media", mediaType };
  const name = (filledAt(source, "displayName") ?? "file").toWellFormed();
  return { kind: "file", name, mediaType };
}

/** Metadata of media, which may be a thought and may be signed. */
function metadataOf(part: JsonObject, signature: string | undefined): Metadata | undefined {
  const isThought = part["thought"] === true;
  if (!isThought && signature === undefined) return undefined;
  return {
    ...(isThought ? { thought: true } : {}),
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}

/** Keeps the vendor's own tool runs and unknown kinds of parts unchanged. */
function takeCustom(work: Work, part: JsonObject, name: string): void {
  if (!isSound(part)) {
    work.fail("protocol", `a part of kind ${name.slice(0, 100).toWellFormed()} can't be stored`);
    return;
  }
  const { code } = work.reply;
  const partId = work.begin({ kind: "custom", name });
  work.push({ op: "replace_structured", partId, value: part });
  if (name === "executableCode") work.reply.code = work.reply.parts;
  if (name === "codeExecutionResult" && code !== undefined) {
    work.push({ op: "set_metadata", partId, metadata: { resultOf: code } });
  }
  work.push({ op: "close_part", partId });
}
