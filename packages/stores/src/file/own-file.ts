import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { MillraceError } from "@millrace/core";
import { hasCode } from "./folder.ts";

/**
 * A link is not followed, and a pipe is not waited for: opening one would take one of the few threads
 * that all files of the process share. Windows has neither flag and neither danger.
 */
const guards = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Opens a file of the store. Throws `corrupt_session` if what has its name is not a file: a link, a pipe,
 * a folder or a device was put there by another program.
 */
export async function openOwn(path: string, flags: number, mode?: number): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(path, flags | guards, mode);
  } catch (error) {
    throw isNoFile(error) ? foreign(path, error) : error;
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw foreign(path);
}

/** As `openOwn`, for reading. The result is closed with `closeSync`. */
export function openOwnSync(path: string): number {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | guards);
  } catch (error) {
    throw isNoFile(error) ? foreign(path, error) : error;
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw foreign(path);
}

/** The text of a file of the store, opened by `openOwn`. */
export async function readOwn(path: string): Promise<string> {
  const handle = await openOwn(path, constants.O_RDONLY);
  try {
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** A link, a pipe without a reader, or a folder that is opened for writing. */
function isNoFile(error: unknown): boolean {
  return ["ELOOP", "EMLINK", "ENXIO", "EISDIR"].some((code) => hasCode(error, code));
}

function foreign(path: string, cause?: unknown): MillraceError {
  const why = "a link, a pipe or a folder stands where the store has a file";
  return new MillraceError(
    "corrupt_session",
    `${path} was not made by the store: ${why}. Delete it`,
    {
      cause,
    },
  );
}
