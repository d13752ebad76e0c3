import type { FileHandle } from "node:fs/promises";
import type { SessionUid } from "@millrace/core";
import type { Checkpoint } from "@millrace/core/ports";
import { openText, sealText } from "./base.ts";
import { replaceWhole } from "./folder.ts";
import { readOwn } from "./own-file.ts";
import { endsWith } from "./seal.ts";

/** A checkpoint, and the line of the session's file that was the last one when it was kept. */
export interface FileCheckpoint extends Checkpoint {
  readonly uid: SessionUid;
  /** The byte after that line, and its hash: by it the checkpoint is of the facts that are there. */
  readonly end: number;
  readonly hash: string;
}

/** Where the checkpoint of a session's file is. */
function checkpointPath(path: string): string {
  return `${path}.checkpoint`;
}

/** Writes a checkpoint in the place of the one before. */
export async function writeCheckpoint(path: string, kept: FileCheckpoint): Promise<void> {
  const { text, ...fields } = kept;
  await replaceWhole(checkpointPath(path), sealText(`${JSON.stringify(fields)}\n${text}`));
}

/**
 * The checkpoint of a session's file. Undefined if there is none, if it is not whole, or if it was
 * made of facts that the file does not have.
 */
export async function readCheckpoint(
  path: string,
  handle: FileHandle,
  uid: SessionUid,
): Promise<Checkpoint | undefined> {
  const content = openText(await readOwn(checkpointPath(path)).catch(() => ""));
  if (content === undefined) return undefined;
  const end = content.indexOf("\n");
  // Its checksum is right, so a store has written it.
  const kept = JSON.parse(content.slice(0, end)) as Omit<FileCheckpoint, "text">;
  if (kept.uid !== uid || !(await endsWith(handle, kept))) return undefined;
  return { head: kept.head, text: content.slice(end + 1) };
}
