import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { lutimes, rm } from "node:fs/promises";
import { MillraceError } from "@millrace/core";
import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import { hasCode } from "./folder.ts";
import { openOwn } from "./own-file.ts";

/**
 * The bytes of a blob, and behind them this many that hold its media type. Behind and not before, so that
 * the file opens in the programs for its type. One file, so that it is there as a whole.
 */
export const trailerSize = 2_048;

/** The media type as the end of a blob's file. */
export function encodeTrailer(mediaType: string): Buffer {
  return Buffer.from(
    `\n${JSON.stringify({ mediaType })}`.padEnd(trailerSize, " "),
    "utf8",
  ).subarray(0, trailerSize);
}

/** The media type of a blob's file. Throws `corrupt_session` if its end was not written by the store. */
export async function readTrailer(
  handle: FileHandle,
  path: string,
): Promise<{ readonly size: number; readonly mediaType: string }> {
  const size = (await handle.stat()).size - trailerSize;
  const buffer = Buffer.alloc(trailerSize);
  if (size >= 0) await handle.read(buffer, 0, trailerSize, size);
  try {
    const value = parseJsonText(buffer.toString("utf8").trim());
    const mediaType = isJsonObject(value) ? value["mediaType"] : undefined;
    if (typeof mediaType === "string") return { size, mediaType };
  } catch {
    // reported below
  }
  throw new MillraceError("corrupt_session", `${path} is not a blob of the store: delete it`);
}

/** Opens a blob for reading. Undefined if there is none. */
export async function openBlob(path: string): Promise<FileHandle | undefined> {
  try {
    return await openOwn(path, constants.O_RDONLY);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/**
 * Sets the time from which a file's age is counted. By its path: a sweep that has moved the file aside
 * meanwhile is noticed. False if there is no such file.
 */
export async function renewFile(path: string, now: number): Promise<boolean> {
  try {
    await lutimes(path, now / 1_000, now / 1_000);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

const pieceSize = 256 * 1024;

/** The bytes of a range. The file is open while it is read, and a removal does not end it. */
export async function* readPieces(
  path: string,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  if (start >= end) return;
  const handle = await openBlob(path);
  if (handle === undefined) throw removed();
  try {
    for (let at = start; at < end;) {
      const piece = new Uint8Array(Math.min(pieceSize, end - at));
      const { bytesRead } = await handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new MillraceError("corrupt_session", `${path} was cut`);
      at += bytesRead;
      yield bytesRead === piece.length ? piece : piece.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Deletes files, of which some may be gone. */
export async function deleteFiles(...paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}

function removed(): MillraceError {
  return new MillraceError("unknown_blob", "the blob was removed before it was read");
}
