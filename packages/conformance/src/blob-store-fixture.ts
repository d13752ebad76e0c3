import type { BlobSwept } from "@millrace/core/blobs";
import type { BlobScope, BlobStore, StoredBlob } from "@millrace/core/ports";
import { assert } from "./case.ts";
import type { Case } from "./case.ts";

/** What a BlobStore must provide for the cases. */
export interface BlobStoreFixture {
  readonly open: () => Promise<OpenedBlobStore>;
}

/** A store under test. Disposed of when its case is over. */
export interface OpenedBlobStore extends AsyncDisposable {
  readonly blobs: BlobStore;
  /** The place of a session that was never used before. A store may need that the session is there. */
  readonly newPlace: (tenant: string) => Promise<BlobScope>;
}

/** A store and a place in it for one case. */
export interface BlobCase extends OpenedBlobStore {
  readonly place: BlobScope;
}

export const mediaType = "image/png";

export function blobCase(
  name: string,
  run: (opened: BlobCase) => Promise<void>,
): Case<BlobStoreFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open();
      await run({ ...opened, place: await opened.newPlace("default") });
    },
  };
}

/** Bytes that look random, and are the same for the same seed. */
export function bytesOf(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let state = seed * 2_654_435_761 + size;
  for (let at = 0; at < size; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Bytes as they come over a network: in pieces, each in a turn of its own. */
export async function* streamOf(
  bytes: Uint8Array,
  piece = 65_536,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += piece) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    yield bytes.slice(at, at + piece);
  }
}

export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256-${[...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Keeps bytes. Must succeed. */
export async function keep(
  { blobs, place }: Pick<BlobCase, "blobs" | "place">,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<StoredBlob> {
  const answer = await blobs.put(place, bytes, { mediaType });
  assert("blob" in answer, `the put ended as ${answer.outcome}`);
  return answer.blob;
}

/** All bytes of a range. Undefined if there is no such blob. */
export async function readAll(
  { blobs, place }: Pick<BlobCase, "blobs" | "place">,
  hash: string,
  range?: { readonly start: number; readonly end?: number },
): Promise<Uint8Array | undefined> {
  const pieces = await blobs.read(place, hash, range);
  if (pieces === undefined) return undefined;
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  const bytes = new Uint8Array(all.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of all) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Sweeps for a session that names these hashes. Other places are left as they are if they can be. */
export function sweep(
  { blobs, place }: Pick<BlobCase, "blobs" | "place">,
  named: readonly string[] | undefined,
  ageMs = 0,
): Promise<BlobSwept> {
  return blobs.sweep({
    ageMs,
    named: async ({ uid }) => {
      if (uid === place.uid) return named === undefined ? undefined : new Set(named);
      return new Set(); // a place of an earlier case
    },
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
