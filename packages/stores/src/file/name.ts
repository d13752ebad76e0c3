import { createHash } from "node:crypto";
import { sessionId } from "@millrace/core/writing";
import type { SessionId } from "@millrace/core";

/** How the files of sessions end. */
export const extension = ".jsonl";

/** Longer names go by their hash: with all endings a file name must stay below 255 bytes. */
const maxLength = 120;

/** Names that mean devices on Windows, whatever ending they have. */
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * The file name of a session, without its ending. No two ids share one, also where the file system
 * takes capitals for small letters, and none of them leaves its folder: every byte but small letters,
 * digits, `_` and `-` is written as `%2e`.
 */
export function stemOf(id: SessionId): string {
  let stem = "";
  for (const byte of Buffer.from(id, "utf8")) {
    const letter = String.fromCharCode(byte);
    stem += /[a-z0-9_-]/.test(letter) ? letter : escapeByte(byte);
  }
  if (devices.test(stem)) stem = escapeByte(stem.charCodeAt(0)) + stem.slice(1);
  // No escaped name begins with "~", so a hash can't be taken for one.
  return stem.length <= maxLength ? stem : `~${createHash("sha256").update(id).digest("hex")}`;
}

/** The id that a file name stands for; undefined for a hash, and for a file that is not ours. */
export function idOfStem(stem: string): SessionId | undefined {
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(stem)) return undefined;
  try {
    const id = sessionId(decodeURIComponent(stem));
    return stemOf(id) === stem ? id : undefined;
  } catch {
    return undefined; // the bytes are not UTF-8, or they are no id
  }
}

/** Whether a file name is the hash of an id, which then only its header says. */
export function isHashed(stem: string): boolean {
  return /^~[0-9a-f]{64}$/.test(stem);
}

function escapeByte(byte: number): string {
  return `%${byte.toString(16).padStart(2, "0")}`;
}
