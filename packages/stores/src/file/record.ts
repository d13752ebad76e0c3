import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { SessionRecord } from "@millrace/core/ports";
import { hasCode } from "./folder.ts";
import { checkSeal, decodeHeader, noHash, progressOf, sealLength, statedHash } from "./line.ts";
import type { Header } from "./line.ts";
import { corrupt } from "./reading.ts";
import type { Reading } from "./reading.ts";
import { lineFeed, readBlock, readLines } from "./scan.ts";

/** How far a session is, from all that was read of it. */
export function recordOf({ header, ledger }: Reading): SessionRecord {
  const { incarnation } = ledger.state;
  return { ...header, incarnation, head: ledger.facts.length };
}

/** What a file's first line says. Undefined if there is no such file. */
export async function headerAt(path: string): Promise<Header | undefined> {
  return withFile(path, (handle) => readHeader(handle, path));
}

/**
 * How far a session is, from the first and the last line of its file alone, so that its cost does
 * not grow with the session. Undefined in place of the progress if the last line is not whole.
 */
export async function glanceAt(
  path: string,
): Promise<{ readonly header: Header; readonly record: SessionRecord | undefined } | undefined> {
  return withFile(path, async (handle) => {
    const header = await readHeader(handle, path);
    const progress = await readProgress(handle);
    return { header, record: progress && { ...header, ...progress } };
  });
}

async function withFile<T>(
  path: string,
  read: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, "r");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    return await read(handle);
  } finally {
    await handle.close();
  }
}

async function readHeader(handle: FileHandle, path: string): Promise<Header> {
  const { size } = await handle.stat();
  for await (const line of readLines(handle, { number: 0, at: 0 }, size)) {
    const whole = line.ended && checkSeal(noHash, line.bytes) !== undefined;
    const read = whole ? decodeHeader(line.bytes) : undefined;
    if (read?.ok === true) return read.value;
    throw corrupt(path, line, read?.message ?? "it is not a header");
  }
  throw corrupt(path, { number: 1, at: 0 }, "the file is empty");
}

/** Reads back from the end until the last line, and the seal of the one before it, are there. */
async function readProgress(
  handle: FileHandle,
): Promise<Pick<SessionRecord, "head" | "incarnation"> | undefined> {
  const { size } = await handle.stat();
  for (let length = 4_096; ; length *= 8) {
    const from = Math.max(0, size - length);
    const block = await readBlock(handle, from, size - from);
    if (block.at(-1) !== lineFeed) return undefined;
    const before = block.lastIndexOf(lineFeed, -2);
    if (from === 0 && before < 0) return { head: 0, incarnation: 0 }; // nothing but the header
    if (before >= sealLength) {
      const hash = statedHash(block.subarray(before - sealLength, before));
      const line = block.subarray(before + 1, -1);
      const whole = hash !== undefined && checkSeal(hash, line) !== undefined;
      return whole ? progressOf(line) : undefined;
    }
    if (from === 0) return undefined;
  }
}
