import { findBlobs } from "../content/blob.ts";
import type { BlobRef } from "../content/blob.ts";
import type { Item } from "../content/item.ts";
import type { FilePart, MediaPart, Part } from "../content/part.ts";
import type { Transcript } from "../content/transcript.ts";
import { MillraceError } from "../errors.ts";
import type { Fact } from "../event/event.ts";
import type { BlobScope, BlobStore } from "./blob-store.ts";
import type { SessionStore } from "./session-store.ts";

/** The most bytes that a part holds itself, where there is a blob store: 32 KiB. */
export const maxInlineBytes: number = 32 * 1024;

/**
 * The parts with a blob in the place of more than 32 KiB of bytes, so that who joins a session does not
 * carry them. The same list if there are none. Rejects with errors of the blob store.
 */
export async function partsToBlobs(
  blobs: BlobStore,
  place: BlobScope,
  parts: readonly Part[],
): Promise<readonly Part[]> {
  if (!parts.some(isLarge)) return parts;
  const kept: Part[] = [];
  for (const part of parts) kept.push(isLarge(part) ? await keepPart(blobs, place, part) : part);
  return kept;
}

type Large = (MediaPart | FilePart) & { readonly bytes: Uint8Array };

function isLarge(part: Part): part is Large {
  if (part.kind !== "media" && part.kind !== "file") return false;
  return part.bytes !== undefined && part.bytes.length > maxInlineBytes;
}

async function keepPart(blobs: BlobStore, place: BlobScope, part: Large): Promise<Part> {
  const { bytes, ...rest } = part;
  // A label that the store can't hold stays on the part.
  const mediaType = /^[\x20-\x7e]{1,255}$/.test(part.mediaType)
    ? part.mediaType
    : "application/octet-stream";
  const answer = await blobs.put(place, bytes, { mediaType });
  if (!("blob" in answer)) return part; // larger than a blob may be
  const { hash, size } = answer.blob;
  return { ...rest, blob: { hash, size } };
}

/** A transcript for a model, and the parts whose blobs are gone. */
export interface WithBytes {
  readonly transcript: Transcript;
  readonly missing: readonly (MediaPart | FilePart)[];
}

/**
 * The transcript with the bytes of its blobs. A text stands in the place of a part whose blob is gone, so
 * that the session goes on. Each blob is read once, however often it is named. Rejects with errors of the
 * blob store. All blobs are in memory then: a model's request holds them in one piece.
 */
export async function partsWithBytes(
  blobs: BlobStore | undefined,
  place: BlobScope,
  transcript: Transcript,
): Promise<WithBytes> {
  const missing: (MediaPart | FilePart)[] = [];
  const read = new Map<string, Uint8Array | undefined>();
  for (const { hash, size } of findBlobs(transcript.flatMap(({ parts }) => parts))) {
    read.set(hash, blobs === undefined ? undefined : await readWhole(blobs, place, { hash, size }));
  }
  if (read.size === 0) return { transcript, missing };
  const fill = (part: Part): Part => {
    if ((part.kind !== "media" && part.kind !== "file") || part.blob === undefined) return part;
    const { blob, ...rest } = part;
    const bytes = read.get(blob.hash);
    if (bytes !== undefined) return { ...rest, bytes };
    missing.push(part);
    return { kind: "text", id: part.id, text: standIn(part) };
  };
  const filled = transcript.map((item): Item =>
    findBlobs(item.parts).length === 0 ? item : { ...item, parts: item.parts.map(fill) },
  );
  return { transcript: filled, missing };
}

function standIn(part: MediaPart | FilePart): string {
  const name = part.kind === "file" ? `file ${JSON.stringify(part.name)}` : "media";
  return `[${name}, ${part.mediaType}: left out, because its bytes are not kept any more]`.toWellFormed();
}

/** Undefined if the blob is gone, or has another size than the part says. */
async function readWhole(
  blobs: BlobStore,
  place: BlobScope,
  { hash, size }: BlobRef,
): Promise<Uint8Array | undefined> {
  const found = await blobs.find(place, hash);
  if (found?.size !== size) return undefined; // the part's own number is not trusted with memory
  const bytes = new Uint8Array(size);
  let at = 0;
  try {
    for await (const piece of (await blobs.read(place, hash)) ?? []) {
      bytes.set(piece, at);
      at += piece.length;
    }
  } catch (error) {
    if (MillraceError.is(error) && error.code === "unknown_blob") return undefined;
    throw error;
  }
  return at === size ? bytes : undefined;
}

/** The hashes of the blobs that a fact names, in an input or in an item. */
export function blobsInFact(fact: Fact): readonly string[] {
  if (fact.type === "item_committed" || fact.type === "item_replaced") {
    return findBlobs(fact.item.parts).map(({ hash }) => hash);
  }
  if (fact.type !== "input_accepted" || !("parts" in fact.input)) return [];
  return findBlobs(fact.input.parts).map(({ hash }) => hash);
}

/** The hashes that a session's facts name, in pages. Undefined if there is no such session. */
async function blobsOfSession(
  store: Pick<SessionStore, "read">,
  { uid }: BlobScope,
): Promise<ReadonlySet<string> | undefined> {
  const named = new Set<string>();
  try {
    for (let after = 0; ;) {
      const facts = await store.read(uid, { after, limit: factsAtOnce });
      for (const fact of facts) for (const hash of blobsInFact(fact)) named.add(hash);
      const last = facts.at(-1);
      if (last === undefined) return named;
      after = last.n;
    }
  } catch (error) {
    if (MillraceError.is(error) && error.code === "unknown_session") return undefined;
    throw error;
  }
}

const factsAtOnce = 500;

/** What `sweepBlobs` looks at. */
export interface SweepBlobsOptions {
  readonly blobs: BlobStore;
  /** The store of a place's tenant. */
  readonly storeOf: (place: BlobScope) => Pick<SessionStore, "read">;
  /** 24 hours by default. */
  readonly ageMs?: number | undefined;
}

/**
 * Removes blobs that no fact of their session names, and those of sessions that are gone. A blob is looked
 * for once: later sweeps skip what was found named. For a program to call now and then, from one process.
 */
export async function sweepBlobs({
  blobs,
  storeOf,
  ageMs = 24 * 60 * 60 * 1_000,
}: SweepBlobsOptions): ReturnType<BlobStore["sweep"]> {
  return await blobs.sweep({ ageMs, named: (place) => blobsOfSession(storeOf(place), place) });
}

/**
 * Copies blobs from one place to another, for a fork: its parts stay readable when the other session is
 * removed. May be repeated, and skips what is there. A blob that is gone is left out.
 */
export async function copyBlobs(
  blobs: BlobStore,
  from: BlobScope,
  to: BlobScope,
  hashes: Iterable<string>,
): Promise<void> {
  for (const hash of new Set(hashes)) {
    const found = await blobs.find(from, hash);
    if (found === undefined || (await blobs.find(to, hash)) !== undefined) continue;
    const bytes = await blobs.read(from, hash);
    if (bytes === undefined) continue;
    const { size, mediaType } = found;
    await blobs.put(to, bytes, { mediaType, limit: size, digest: hash });
  }
}
