import { isBlobHash } from "../content/blob.ts";
import type { BlobRef } from "../content/blob.ts";
import { MillraceError } from "../errors.ts";
import { actorText, sessionUid } from "../ids.ts";
import type { SessionUid } from "../ids.ts";

/**
 * Bytes that are too large for facts: images, files, recordings. Each session has a place of its own, and
 * within it bytes are named by their hash, so that the same bytes are kept once. The same hash in another
 * place is another blob: whoever knows a hash can't find out whether others have the bytes. Both directions
 * stream, and a store holds one piece of a blob in memory at a time, unless memory is where it keeps them.
 * A blob is there as a whole or not at all, also after a crash.
 */
export interface BlobStore {
  /**
   * Keeps bytes. They are read to their end, or to the piece that goes above the limit. Rejects with the
   * error of the iterable if that fails, and with `unknown_session` if the place is removed meanwhile;
   * nothing is kept then. Bytes that are there already count as new: their age for `sweep` begins again,
   * and their media type stays what it was.
   */
  readonly put: (
    place: BlobScope,
    bytes: BlobBytes,
    options: BlobPutOptions,
  ) => Promise<BlobPutOutcome>;
  /** Undefined if the place has no such blob, and for a text that is no hash. */
  readonly find: (
    place: BlobScope,
    hash: string,
    options?: BlobFindOptions,
  ) => Promise<StoredBlob | undefined>;
  /**
   * The bytes, or a range of them, in pieces. Undefined as in `find`. An iterable that is never begun holds
   * nothing open. If the blob is removed meanwhile, it goes on to its end or throws `unknown_blob`: it never
   * ends early as if it were whole.
   */
  readonly read: (
    place: BlobScope,
    hash: string,
    range?: BlobRange,
  ) => Promise<AsyncIterable<Uint8Array> | undefined>;
  /** The bytes of all blobs of a place, for a quota. */
  readonly total: (place: BlobScope) => Promise<number>;
  /** Removes all blobs of a place, with those of uploads under way. May be repeated. */
  readonly remove: (place: BlobScope) => Promise<void>;
  /** Removes what no session names, in the places of all tenants that the store may see. */
  readonly sweep: (options: BlobSweepOptions) => Promise<BlobSwept>;
}

/** Where the blobs of one session are. */
export interface BlobScope {
  /** As in the session's record. Left out: `default`. */
  readonly tenant?: string | undefined;
  readonly uid: SessionUid;
}

/** Bytes at once, or as they come. */
export type BlobBytes = Uint8Array | AsyncIterable<Uint8Array>;

/** A blob that is kept. */
export interface StoredBlob extends BlobRef {
  /** As it was given by the first that sent these bytes. A label: nothing has looked into the bytes. */
  readonly mediaType: string;
}

/** What is known of bytes before they are read. */
export interface BlobPutOptions {
  /** Up to 255 characters of ASCII, without control characters. */
  readonly mediaType: string;
  /** The most bytes that are taken. 32 MiB by default. */
  readonly limit?: number | undefined;
  /** The hash that the bytes must have, in the form of `BlobRef.hash`. */
  readonly digest?: string | undefined;
}

/** What a store did with bytes. Nothing is kept unless it is `stored` or `exists`. */
export type BlobPutOutcome =
  | { readonly outcome: "stored" | "exists"; readonly blob: StoredBlob }
  | { readonly outcome: "too_large"; readonly limit: number }
  /** They have this hash, and not the one that was asked for. */
  | { readonly outcome: "digest_mismatch"; readonly hash: string };

/** How a blob is looked for. */
export interface BlobFindOptions {
  /**
   * Lets its age begin again, in the same step. For a caller that is about to name it in a fact: no sweep
   * then comes in between.
   */
  readonly renew?: boolean | undefined;
}

/** Which bytes are read: from `start`, up to and without `end`. What is beyond the blob's end is left out. */
export interface BlobRange {
  readonly start: number;
  /** Left out: the end of the blob. */
  readonly end?: number | undefined;
}

/** What a sweep removes. */
export interface BlobSweepOptions {
  /** Blobs that were put longer ago than this by the store's clock. */
  readonly ageMs: number;
  /**
   * The hashes that the session of a place names. Undefined if there is no such session any more: all its
   * blobs go then. Asked once for each place with such blobs. A blob that is named is not asked for in
   * later sweeps.
   */
  readonly named: (place: BlobScope) => Promise<ReadonlySet<string> | undefined>;
}

/** What a sweep did. */
export interface BlobSwept {
  readonly removed: number;
  /** Bytes of blobs that were removed. Those of uploads that were cut off are not counted. */
  readonly bytes: number;
}

/** 32 MiB, the limit of a blob unless another is given. */
export const defaultBlobLimit: number = 32 * 1024 * 1024;

/** A place as stores take it: with its tenant, each admitted. Throws `invalid_id`. */
export function checkBlobScope({ tenant = "default", uid }: BlobScope): Required<BlobScope> & {
  readonly tenant: string;
} {
  return { tenant: actorText(tenant), uid: sessionUid(uid) };
}

/** The options of a put with their defaults. Throws `invalid_event` for what a store can't hold. */
export function checkBlobPut({ mediaType, limit = defaultBlobLimit, digest }: BlobPutOptions): {
  readonly mediaType: string;
  readonly limit: number;
  readonly digest: string | undefined;
} {
  if (typeof mediaType !== "string" || !/^[\x20-\x7e]{0,255}$/.test(mediaType)) {
    throw new MillraceError("invalid_event", "a media type has up to 255 characters of ASCII");
  }
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new MillraceError("invalid_event", `the limit of a blob is a whole number, not ${limit}`);
  }
  if (digest !== undefined && !isBlobHash(digest)) {
    throw new MillraceError("invalid_event", "a digest is sha256- and 64 hexadecimal digits");
  }
  return { mediaType, limit, digest };
}

/** A range within a blob of this size. Empty, at its end, where they don't overlap. Throws `invalid_event`. */
export function checkBlobRange(
  size: number,
  { start, end = size }: BlobRange = { start: 0 },
): { readonly start: number; readonly end: number } {
  if (!isOffset(start) || !isOffset(end)) {
    throw new MillraceError("invalid_event", `${start} to ${end} is not a range of bytes`);
  }
  const from = Math.min(start, size);
  return { start: from, end: Math.max(from, Math.min(end, size)) };
}

function isOffset(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Bytes as pieces, in either form that they come in. */
export async function* blobPieces(bytes: BlobBytes): AsyncGenerator<Uint8Array, void, undefined> {
  if (bytes instanceof Uint8Array) yield bytes;
  else yield* bytes;
}
