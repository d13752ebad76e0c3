import { createHash } from "node:crypto";
import { sessionId } from "@millrace/core/writing";
import type { SessionId } from "@millrace/core";

/** The extension of session files. */
export const extension = ".jsonl";

/** Longer names are hashed: with every extension a file name must stay below 255 bytes. */
const maxLength = 120;

/** Names of devices on Windows, with any extension. */
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * The file name of a session, without its extension. No two ids share one, also on a file system that
 * ignores case, and none leads out of the folder: every byte but small letters, digits, `_` and `-` is
 * escaped, as in `%2e`.
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

/** The id that a file name stands for; undefined for a hash, and for a name that `stemOf` never makes. */
export function idOfStem(stem: string): SessionId | undefined {
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(stem)) return undefined;
  try {
    const id = sessionId(decodeURIComponent(stem));
    return stemOf(id) === stem ? id : undefined;
  } catch {
    return undefined; // the bytes are not UTF-8, or not a valid id
  }
}

/** Whether a file name is the hash of an id. Only the file's header then holds the id. */
export function isHashed(stem: string): boolean {
  return /^~[0-9a-f]{64}$/.test(stem);
}

function escapeByte(byte: number): string {
  return `%${byte.toString(16).padStart(2, "0")}`;
}
