import { MillraceError } from "../errors.ts";
import { blobPieces, checkBlobScope, checkBlobPut, checkBlobRange } from "../ports/blob-store.ts";
import type { BlobScope, BlobStore, BlobSweepOptions, StoredBlob } from "../ports/blob-store.ts";
import type { Clock } from "../ports/clock.ts";
import { steadyNow, systemClock } from "./system.ts";

/** How a store of blobs in memory does its work. */
export interface MemoryBlobsOptions {
  readonly clock?: Clock | undefined;
}

interface MemoryBlob {
  readonly blob: StoredBlob;
  readonly bytes: Uint8Array<ArrayBuffer>;
  at: number;
  /** A fact names it, so no sweep has to ask again. */
  named: boolean;
}

interface Shelf {
  readonly place: BlobScope;
  readonly blobs: Map<string, MemoryBlob>;
  /** Puts under way. An empty shelf without any is forgotten. */
  puts: number;
  removed: boolean;
}

/**
 * The BlobStore of one process. It keeps the bytes in memory, and a put needs their size once more while it
 * joins them. It forgets everything when the process ends.
 */
export function memoryBlobs({ clock = systemClock }: MemoryBlobsOptions = {}): BlobStore {
  const now = steadyNow(clock);
  const shelves = new Map<string, Shelf>();
  const keyOf = ({ tenant, uid }: ReturnType<typeof checkBlobScope>): string => `${uid} ${tenant}`;
  const shelfOf = (place: BlobScope): Shelf | undefined =>
    shelves.get(keyOf(checkBlobScope(place)));
  const forget = (shelf: Shelf): void => {
    if (shelf.puts === 0 && shelf.blobs.size === 0)
      shelves.delete(keyOf(checkBlobScope(shelf.place)));
  };

  const put: BlobStore["put"] = async (place, given, options) => {
    const { mediaType, limit, digest } = checkBlobPut(options);
    const own = checkBlobScope(place);
    const shelf = shelves.get(keyOf(own)) ?? {
      place: own,
      blobs: new Map<string, MemoryBlob>(),
      puts: 0,
      removed: false,
    };
    shelves.set(keyOf(own), shelf);
    shelf.puts += 1;
    try {
      const bytes = await gather(given, limit);
      if (bytes === undefined) return { outcome: "too_large", limit };
      const hash = await hashOf(bytes);
      if (digest !== undefined && digest !== hash) return { outcome: "digest_mismatch", hash };
      if (shelf.removed) {
        throw new MillraceError("unknown_session", `the session ${own.uid} was removed meanwhile`);
      }
      const known = shelf.blobs.get(hash);
      if (known !== undefined) {
        known.at = now();
        return { outcome: "exists", blob: known.blob };
      }
      const blob: StoredBlob = { hash, size: bytes.length, mediaType };
      shelf.blobs.set(hash, { blob, bytes, at: now(), named: false });
      return { outcome: "stored", blob };
    } finally {
      shelf.puts -= 1;
      if (!shelf.removed) forget(shelf);
    }
  };

  return {
    put,
    find: async (place, hash, { renew = false } = {}) => {
      const kept = shelfOf(place)?.blobs.get(hash);
      if (kept !== undefined && renew) kept.at = now();
      return kept?.blob;
    },
    read: async (place, hash, range) => {
      const kept = shelfOf(place)?.blobs.get(hash);
      return kept === undefined ? undefined : piecesOf(kept.bytes, range);
    },
    total: async (place) => {
      const kept = [...(shelfOf(place)?.blobs.values() ?? [])];
      return kept.reduce((sum, { blob }) => sum + blob.size, 0);
    },
    remove: async (place) => {
      const shelf = shelfOf(place);
      if (shelf === undefined) return;
      shelf.removed = true;
      shelves.delete(keyOf(checkBlobScope(place)));
    },
    sweep: async (sweeping) => {
      const swept = { removed: 0, bytes: 0 };
      for (const shelf of shelves.values()) {
        for (const { blob } of await sweepShelf(shelf, sweeping, now)) {
          swept.removed += 1;
          swept.bytes += blob.size;
        }
        forget(shelf);
      }
      return swept;
    },
  };
}

/** Removes what is old and not named, and gives that. */
async function sweepShelf(
  { place, blobs }: Shelf,
  { ageMs, named }: BlobSweepOptions,
  now: () => number,
): Promise<readonly MemoryBlob[]> {
  const isOld = (kept: MemoryBlob): boolean => !kept.named && kept.at < now() - ageMs;
  if (![...blobs.values()].some(isOld)) return [];
  const hashes = await named(place);
  const removed: MemoryBlob[] = [];
  for (const [hash, kept] of blobs) {
    if (hashes?.has(hash) === true) kept.named = true;
    // Asked again: it may have been put once more meanwhile.
    else if (isOld(kept) || hashes === undefined) {
      blobs.delete(hash);
      removed.push(kept);
    }
  }
  return removed;
}

/** The bytes in one piece of their own. Undefined if they are more than the limit. */
async function gather(
  given: Parameters<BlobStore["put"]>[1],
  limit: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of blobPieces(given)) {
    size += piece.length;
    if (size > limit) return undefined;
    pieces.push(piece.slice());
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256-${[...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const pieceSize = 256 * 1024;

/** Copies: what a reader does to its piece must not change what is kept. */
async function* piecesOf(
  bytes: Uint8Array,
  range: Parameters<BlobStore["read"]>[2],
): AsyncGenerator<Uint8Array, void, undefined> {
  const { start, end } = checkBlobRange(bytes.length, range);
  for (let at = start; at < end; at += pieceSize) {
    yield bytes.slice(at, Math.min(end, at + pieceSize));
  }
}
