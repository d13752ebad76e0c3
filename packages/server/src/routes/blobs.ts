import type { BlobScope, BlobPutOutcome, StoredBlob } from "@millrace/core/ports";
import { createHash } from "node:crypto";
import type { Answer } from "../http/answer.ts";
import { notFound, Problem } from "../http/problem.ts";
import type { RouteContext, RouteWork } from "../http/route-context.ts";
import { sessionOf } from "./common.ts";
import { namesTag } from "./etag.ts";

/** Stores the bytes of a request in its session. Always reads them, so that content can't be probed for. */
export const uploadBlob: RouteWork = async (context) => {
  const { blobs, bytes, limits, header } = context;
  const place = placeOf(context);
  const digest = contentDigest(header("content-digest"));
  if (digest === "malformed") {
    throw new Problem("invalid_request", "Content-Digest has the form sha-256=:<base64>:");
  }
  const room = Math.max(0, limits.blobBytesPerSession - (await blobs.total(place)));
  const limit = Math.min(limits.blobBytes, room);
  const mediaType = checkMediaType(header("content-type") ?? "application/octet-stream");
  const kept = hashBytes(bytes ?? noBytes());
  const fits = Number(header("content-length") ?? 0) <= room;
  const put: BlobPutOutcome = fits
    ? await blobs.put(place, kept.bytes, { mediaType, limit, digest })
    : { outcome: "too_large", limit };
  if (put.outcome !== "too_large" || limit === limits.blobBytes) return uploaded(put);
  // A repeat of what is there needs no room: its first answer may have been lost.
  const blob = await blobs.find(place, await kept.hash());
  if (blob !== undefined) return uploaded({ outcome: "exists", blob });
  throw full(context);
};

async function* noBytes(): AsyncGenerator<Uint8Array, void, undefined> {}

/** Reads a blob, or a range of it. What it is called is data: no browser runs it. */
export const readBlob: RouteWork = async (context) => {
  const { blobs, header } = context;
  const place = placeOf(context);
  const { hash = "" } = context.params;
  const blob = await blobs.find(place, hash);
  if (blob === undefined) throw notFound();
  const tag = `"${blob.hash}"`;
  if (namesTag(header("if-none-match"), tag)) return { status: 304, headers: { etag: tag } };
  const ifRange = header("if-range");
  const isSame = ifRange === undefined || ifRange.trim() === tag;
  const range = isSame ? byteRange(header("range"), blob.size) : "whole";
  if (range === "none") {
    throw new Problem("range_not_satisfiable", `this blob has ${blob.size} bytes`, {
      headers: { "content-range": `bytes */${blob.size}` },
    });
  }
  const part = range === "whole" ? undefined : range;
  const bytes = await blobs.read(place, hash, part);
  if (bytes === undefined) throw notFound();
  const headers = { ...inertHeaders(context, blob), etag: tag, "accept-ranges": "bytes" };
  if (part === undefined) {
    return { status: 200, headers: { ...headers, "content-length": String(blob.size) }, bytes };
  }
  const { start, end } = part;
  const shown = {
    "content-length": String(end - start),
    "content-range": `bytes ${start}-${end - 1}/${blob.size}`,
  };
  return { status: 206, headers: { ...headers, ...shown }, bytes };
};

function placeOf(context: RouteContext): BlobScope {
  const { tenant, uid } = sessionOf(context);
  return { tenant, uid };
}

function full({ limits }: RouteContext): Problem {
  const detail = `the blobs of a session have at most ${limits.blobBytesPerSession} bytes`;
  return new Problem("quota_exceeded", detail, { policy: "blobBytesPerSession" });
}

function uploaded(put: BlobPutOutcome): Answer {
  switch (put.outcome) {
    case "too_large": {
      const { limit } = put;
      throw new Problem("too_large", `a blob has at most ${limit} bytes`, { limit });
    }
    case "digest_mismatch":
      throw new Problem("digest_mismatch", "the bytes are not those that Content-Digest names");
    case "stored":
    case "exists": {
      const { hash, size, mediaType } = put.blob;
      const headers = { location: `blobs/${hash}` };
      const json = { hash, size, mediaType };
      return { status: put.outcome === "stored" ? 201 : 200, headers, json };
    }
    default:
      return put satisfies never;
  }
}

/** A media type that a store can keep. Throws `invalid_request`. */
export function checkMediaType(mediaType: string, pointer?: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(mediaType)) return mediaType;
  const detail = "a media type has 1 to 255 characters of ASCII, such as image/png";
  throw new Problem("invalid_request", detail, pointer === undefined ? {} : { pointer });
}

/** Media that a page may show. SVG and HTML are never among them. */
const inline: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "video/mp4",
  "video/webm",
  "audio/mpeg",
  "audio/mp3",
  "audio/wav",
  "audio/x-wav",
  "audio/ogg",
  "video/ogg",
]);

function inertHeaders(
  { query }: RouteContext,
  { mediaType }: StoredBlob,
): Readonly<Record<string, string>> {
  const isPlain = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;[\x20-\x7e]*)?$/i.test(mediaType);
  const essence = mediaType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return {
    "content-type": isPlain ? mediaType : "application/octet-stream",
    "content-disposition": inline.has(essence) ? "inline" : "attachment",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": query["ticket"] === undefined ? "same-origin" : "cross-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=31536000, immutable",
  };
}

/** Bytes that are given to one reader, and read to their end whatever it took of them. */
interface HashedBytes {
  /** Once. Who leaves it early leaves the rest for `hash`. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Reads what is left, and resolves to the name of all of them. Holds one piece at a time. */
  readonly hash: () => Promise<string>;
}

/** Follows bytes on their way, so that their hash is computed also if nothing stored them. */
function hashBytes(source: AsyncIterable<Uint8Array>): HashedBytes {
  const pieces = source[Symbol.asyncIterator]();
  const digest = createHash("sha256");
  const next = async (): Promise<Uint8Array | undefined> => {
    const piece = await pieces.next();
    if (piece.done === true) return undefined;
    digest.update(piece.value);
    return piece.value;
  };
  return {
    bytes: {
      async *[Symbol.asyncIterator]() {
        for (let piece = await next(); piece !== undefined; piece = await next()) yield piece;
      },
    },
    hash: async () => {
      while ((await next()) !== undefined);
      return `sha256-${digest.digest("hex")}`;
    },
  };
}

/** A range of bytes, up to and without `end`. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * What a `Range` header asks of bytes of this size. `whole`: no range, several, another unit or a
 * malformed one, all of which RFC 9110 lets a server ignore. `none`: nothing of it is there.
 */
function byteRange(header: string | undefined, size: number): ByteRange | "whole" | "none" {
  const [, first, last] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "whole";
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= size ? "none" : { start, end };
}

/** The hash of a blob by `Content-Digest` (RFC 9530), in our form. Undefined if it has no SHA-256. */
function contentDigest(header: string | undefined): `sha256-${string}` | "malformed" | undefined {
  const member = header?.split(",").find((each) => /^\s*sha-256=/i.test(each));
  if (member === undefined) return undefined;
  const [, base64] = /^\s*sha-256=:([A-Za-z0-9+/]{43}=):\s*$/i.exec(member) ?? [];
  if (base64 === undefined) return "malformed";
  return `sha256-${Buffer.from(base64, "base64").toString("hex")}`;
}
