import type { Json, JsonObject } from "@millrace/core";
import type { BlobScope, BlobPutOutcome } from "@millrace/core/ports";
import { decodeBase64 } from "@millrace/core/wire";
import { checkMediaType, Problem } from "@millrace/server/dialect";
import type { RouteContext } from "@millrace/server/dialect";

/** Bytes of a part that stay in it. Larger ones become blobs. */
const inlineBytes = 32 * 1_024;

/** A part of a message as `sentParts` takes it, with its file stored. */
export async function sentPart(
  context: RouteContext,
  place: BlobScope,
  part: JsonObject,
  pointer: string,
): Promise<JsonObject> {
  const { type, text, data } = part;
  if (type === "text" && typeof text === "string") return { kind: "text", text };
  if (type === "file") return filePart(context, place, part, pointer);
  if (typeof type === "string" && type.startsWith("data-") && data !== undefined)
    return { kind: "custom", name: type.slice("data-".length), value: data };
  const detail = `a person's message has parts of text, files and data, not ${JSON.stringify(type)}`;
  throw new Problem("invalid_request", detail, { pointer });
}

/** A file of a message, by its address or as a data URL. */
export async function filePart(
  context: RouteContext,
  place: BlobScope,
  { mediaType, filename, url }: JsonObject,
  pointer: string,
): Promise<JsonObject> {
  if (typeof mediaType !== "string" || typeof url !== "string")
    throw new Problem("invalid_request", "a file has a mediaType and a url", { pointer });
  checkMediaType(mediaType, pointer);
  const isMedia = /^(?:image|audio|video)\//.test(mediaType);
  const name = typeof filename === "string" && filename !== "" ? filename : "file";
  const labels = isMedia ? { kind: "media", mediaType } : { kind: "file", name, mediaType };
  if (!url.startsWith("data:")) return { ...labels, url };
  const base64 = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  const bytes = base64 === undefined ? undefined : decodeBase64(base64);
  if (bytes === undefined)
    throw new Problem("invalid_request", "a data URL has its bytes in base64", { pointer });
  if (bytes.length <= inlineBytes) return { ...labels, bytes: base64 as Json };
  return { ...labels, blob: await stored(context, place, bytes, mediaType) };
}

async function stored(
  { blobs, limits }: RouteContext,
  place: BlobScope,
  bytes: Uint8Array,
  mediaType: string,
): Promise<JsonObject> {
  const room = Math.max(0, limits.blobBytesPerSession - (await blobs.total(place)));
  const limit = Math.min(limits.blobBytes, room);
  const put: BlobPutOutcome = await blobs.put(place, bytes, { mediaType, limit });
  if (put.outcome === "stored" || put.outcome === "exists") return { hash: put.blob.hash };
  const detail = `the files of a session have at most ${limits.blobBytesPerSession} bytes, and one at most ${limits.blobBytes}`;
  throw limit < limits.blobBytes
    ? new Problem("quota_exceeded", detail, { policy: "blobBytesPerSession" })
    : new Problem("too_large", detail, { limit });
}
