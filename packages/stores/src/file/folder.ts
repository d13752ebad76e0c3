import { randomBytes } from "node:crypto";
import { link, mkdir, open, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { MillraceError } from "@millrace/core";

/** Whether writes are forced to the disk. */
export type Fsync = "always" | "never";

/** Whether an error has this code of the operating system. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** Creates the folder, readable by its owner alone, if it does not exist. */
export async function makeFolder(folder: string, fsync: Fsync): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(dirname(made), fsync);
}

/** Throws `invalid_definition` for a folder to which any user may write: what is read there could be anyone's. */
export async function refuseOpenFolder(folder: string): Promise<boolean> {
  if (process.platform === "win32") return true;
  const found = await stat(folder).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  });
  if (found === undefined) return false; // it is created with the first session
  if ((found.mode & 0o002) === 0) return true;
  const mode = (found.mode & 0o7777).toString(8).padStart(4, "0");
  throw new MillraceError(
    "invalid_definition",
    `any user of this machine may write to ${folder}, which has the mode ${mode}: run chmod 700 ${folder}, or name another folder`,
  );
}

/** Forces the entries of a folder to the disk: a file whose name is not stored is lost. */
export async function syncFolder(folder: string, fsync: Fsync): Promise<void> {
  // Windows can't open a folder, and stores its entries by itself.
  if (fsync === "never" || process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates a file with this content, all of it or none. False if there is a file of this name already,
 * which is left unchanged.
 */
export async function createWhole(
  path: string,
  blocks: Iterable<Buffer>,
  fsync: Fsync,
): Promise<boolean> {
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeNew(temporary, blocks, fsync);
    // A link, unlike a rename, does not replace what is there.
    await link(temporary, path);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path), fsync);
  return true;
}

/** Puts a file in the place of another one, all of it or none. It is on the disk before it is there. */
export async function replaceWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    await writeNew(temporary, [Buffer.from(text, "utf8")], "always");
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Writes all bytes at the end of a file that is open for appending. */
export async function appendAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done);
    done += bytesWritten;
  }
}

async function writeNew(path: string, blocks: Iterable<Buffer>, fsync: Fsync): Promise<void> {
  const handle = await open(path, "ax", 0o600);
  try {
    for (const block of blocks) await appendAll(handle, block);
    if (fsync === "always") await handle.sync();
  } finally {
    await handle.close();
  }
}
