import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, lstat, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MillraceError } from "@millrace/core";
import { steadyNow, systemClock } from "@millrace/core/memory";
import { blobPieces, checkBlobScope, checkBlobPut, checkBlobRange } from "@millrace/core/blobs";
import type { BlobSweepOptions } from "@millrace/core/blobs";
import type { BlobStore, Clock, StoredBlob } from "@millrace/core/ports";
import { isBlobHash } from "@millrace/core/writing";
import {
  deleteFiles,
  encodeTrailer,
  openBlob,
  readPieces,
  readTrailer,
  renewFile,
  trailerSize,
} from "./blob-file.ts";
import { BlobFolders, endings, hashesAmong, namesIn } from "./blob-scope.ts";
import { checkFileBlobsOptions } from "./check-options.ts";
import { appendAll, hasCode, syncFolder } from "./folder.ts";
import type { Fsync } from "./folder.ts";
import { openOwn } from "./own-file.ts";

/** How blobs are kept. */
export interface FileBlobsOptions {
  /** As in `fileStore`. */
  readonly fsync?: Fsync | undefined;
  readonly clock?: Clock | undefined;
}

type PutAnswer = Awaited<ReturnType<BlobStore["put"]>>;

/**
 * The BlobStore in a folder: a file for each blob, readable by its owner alone, in a folder for each
 * session. A put writes to a file of its own and links it under its hash when all is on the disk, so a
 * process that is killed leaves nothing that is found. Several processes may use it at once. The folder may
 * be that of the sessions: no session's file is taken for a place, nor a place for a session.
 */
export function fileBlobs(folder: string, options: FileBlobsOptions = {}): BlobStore {
  checkFileBlobsOptions(folder, options, fileBlobs);
  const { fsync = "always", clock = systemClock } = options;
  const folders = new BlobFolders(join(folder, "blobs"), fsync);
  const now = steadyNow(clock);
  const pathOf = (place: Parameters<BlobStore["find"]>[0]): string =>
    folders.pathOf(checkBlobScope(place));

  const find: BlobStore["find"] = async (place, hash, { renew = false } = {}) => {
    const path = join(pathOf(place), hash);
    if (!isBlobHash(hash)) return undefined;
    await folders.check();
    if (renew && !(await renewFile(path, now()))) return undefined;
    return describe(path, hash);
  };

  return {
    find,
    put: async (place, bytes, given) => {
      const wanted = checkBlobPut(given);
      const within = await folders.make(checkBlobScope(place));
      const upload = join(within, `${randomBytes(12).toString("hex")}${endings.upload}`);
      try {
        const read = await write(upload, bytes, { ...wanted, fsync });
        if (read.answer !== undefined) return read.answer;
        return await publish(upload, { ...read, within, mediaType: wanted.mediaType, fsync, now });
      } catch (error) {
        // Of a file of the place: what the caller reads from may be missing too.
        if (!hasCode(error, "ENOENT") || !isWithin(error, within)) throw error;
        throw new MillraceError("unknown_session", `the place of ${place.uid} was removed`);
      } finally {
        await deleteFiles(upload);
      }
    },
    read: async (place, hash, range) => {
      const blob = await find(place, hash);
      if (blob === undefined) return undefined;
      return readPieces(join(pathOf(place), hash), checkBlobRange(blob.size, range));
    },
    total: async (place) => {
      const path = pathOf(place);
      let total = 0;
      for (const hash of hashesAmong(await namesIn(path))) {
        total += ((await statOf(join(path, hash)))?.size ?? trailerSize) - trailerSize;
      }
      return total;
    },
    remove: async (place) => {
      const path = pathOf(place);
      await folders.check();
      await folders.remove(path);
    },
    sweep: async (sweeping) => {
      const swept = { removed: 0, bytes: 0 };
      for await (const { path, place } of folders.all()) {
        const { removed, bytes } = await sweepScope(path, place, { ...sweeping, folders, now });
        swept.removed += removed;
        swept.bytes += bytes;
      }
      return swept;
    },
  };
}

function isWithin(error: unknown, folder: string): boolean {
  return String((error as { readonly path?: unknown }).path).startsWith(folder);
}

async function describe(path: string, hash: string): Promise<StoredBlob | undefined> {
  const handle = await openBlob(path);
  if (handle === undefined) return undefined;
  try {
    return { hash, ...(await readTrailer(handle, path)) };
  } finally {
    await handle.close();
  }
}

/** Writes an upload to its own file. With an answer if it is not to be kept. */
async function write(
  path: string,
  bytes: Parameters<BlobStore["put"]>[1],
  options: ReturnType<typeof checkBlobPut> & { readonly fsync: Fsync },
): Promise<{ readonly answer?: PutAnswer; readonly hash: string; readonly size: number }> {
  const { limit, digest, mediaType, fsync } = options;
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;
  const handle = await openOwn(path, flags, 0o600);
  try {
    const sum = createHash("sha256");
    let size = 0;
    for await (const piece of blobPieces(bytes)) {
      size += piece.length;
      if (size > limit) return { answer: { outcome: "too_large", limit }, hash: "", size };
      sum.update(piece);
      await appendAll(handle, Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    }
    const hash = `sha256-${sum.digest("hex")}`;
    if (digest !== undefined && digest !== hash) {
      return { answer: { outcome: "digest_mismatch", hash }, hash, size };
    }
    await appendAll(handle, encodeTrailer(mediaType));
    if (fsync === "always") await handle.sync();
    return { hash, size };
  } finally {
    await handle.close();
  }
}

/** Gives an upload its name, unless the bytes are there. A link, unlike a rename, replaces nothing. */
async function publish(
  upload: string,
  given: StoredBlob & {
    readonly within: string;
    readonly fsync: Fsync;
    readonly now: () => number;
  },
): Promise<PutAnswer> {
  const { hash, size, mediaType, within, fsync, now } = given;
  const path = join(within, hash);
  for (;;) {
    if (await renewFile(path, now())) {
      const blob = await describe(path, hash);
      // Also here: the one that stored it may not have come to this yet.
      await syncFolder(within, fsync);
      if (blob !== undefined) return { outcome: "exists", blob };
    }
    await renewFile(upload, now());
    try {
      await link(upload, path);
      await syncFolder(within, fsync);
      return { outcome: "stored", blob: { hash, size, mediaType } };
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
}

async function statOf(
  path: string,
): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

interface Sweeping extends BlobSweepOptions {
  readonly folders: BlobFolders;
  readonly now: () => number;
}

/** Removes what is old and not named in one place. */
async function sweepScope(
  path: string,
  place: Parameters<BlobFolders["pathOf"]>[0],
  { ageMs, named, folders, now }: Sweeping,
): Promise<{ readonly removed: number; readonly bytes: number }> {
  const isOld = async (name: string): Promise<boolean> =>
    ((await statOf(join(path, name)))?.mtimeMs ?? Infinity) < now() - ageMs;
  const names = await namesIn(path);
  const marked = new Set(names.filter((name) => name.endsWith(endings.named)));
  const left = names.filter((name) => name.endsWith(endings.upload) || name.endsWith(endings.gone));
  for (const name of left) if (await isOld(name)) await deleteFiles(join(path, name));
  const unmarked = hashesAmong(names).filter((hash) => !marked.has(`${hash}${endings.named}`));
  const old: string[] = [];
  for (const hash of unmarked) if (await isOld(hash)) old.push(hash);
  const swept = { removed: 0, bytes: 0 };
  if (old.length === 0) return swept;
  const hashes = await named(place);
  if (hashes === undefined) {
    for (const hash of hashesAmong(await namesIn(path))) {
      swept.removed += 1;
      swept.bytes += ((await statOf(join(path, hash)))?.size ?? trailerSize) - trailerSize;
    }
    await folders.remove(path);
    return swept;
  }
  for (const hash of old) {
    const own = join(path, hash);
    if (hashes.has(hash)) await writeFile(`${own}${endings.named}`, "", { mode: 0o600 });
    else {
      const size = await takeOut(own, () => now() - ageMs);
      swept.removed += size === undefined ? 0 : 1;
      swept.bytes += size ?? 0;
    }
  }
  return swept;
}

/**
 * Removes a blob, unless its age began again. It is moved aside first: who renews it after that finds
 * nothing and stores it anew, and who renewed it before that is seen in its time. Its size, if it is gone.
 */
async function takeOut(path: string, before: () => number): Promise<number | undefined> {
  const aside = `${path}.${randomBytes(8).toString("hex")}${endings.gone}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  const found = await statOf(aside);
  const isYoung = found !== undefined && found.mtimeMs >= before();
  if (isYoung) {
    await link(aside, path).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error; // it was stored anew meanwhile
    });
  }
  await deleteFiles(aside);
  return isYoung || found === undefined ? undefined : found.size - trailerSize;
}
