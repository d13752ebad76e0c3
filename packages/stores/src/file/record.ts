import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { SessionRecord } from "@millrace/core/ports";
import type { StoreDetails } from "@millrace/core/store-kit";
import { readLineAt } from "./earlier.ts";
import { hasCode } from "./folder.ts";
import {
  checkSeal,
  decodeEntry,
  decodeHeader,
  noHash,
  progressOf,
  sealLength,
  statedHash,
} from "./line.ts";
import type { Header } from "./line.ts";
import { corrupt } from "./corrupt.ts";
import { openOwn } from "./own-file.ts";
import type { Reading } from "./reading.ts";
import { lineFeed, readBlock, readLines } from "./scan.ts";
import { readSummary, recordBy, summaryOf, withChange } from "./summary.ts";
import type { Summary } from "./summary.ts";

/** The record of a session whose file was read whole. */
export function recordOf({ kept, ledger }: Reading): SessionRecord {
  const { head, row } = ledger;
  const { incarnation } = ledger.state;
  return recordBy(kept.details, summaryOf(kept, row), { head, incarnation });
}

/** A file's header. Undefined if there is no such file. */
export async function headerAt(path: string): Promise<Header | undefined> {
  return withFile(path, (handle) => readHeader(handle, path));
}

/**
 * The header and record of a session, from the first and the last line of its file and that of its last
 * update, so that the cost does not grow with the session. The record is undefined if the last line is not
 * whole, and if it or the header was written by an earlier release: then the facts have to be read.
 */
export async function glanceAt(
  path: string,
): Promise<{ readonly header: Header; readonly record: SessionRecord | undefined } | undefined> {
  return withFile(path, async (handle) => {
    const header = await readHeader(handle, path);
    const { createdAt } = header;
    const last = createdAt === undefined ? undefined : await readLast(handle);
    if (last === undefined || createdAt === undefined) return { header, record: undefined };
    const begun = { ...header, revision: 1, createdAt };
    const details =
      last.changed === undefined ? begun : changedAt(path, header, last.changed, begun);
    return {
      header,
      record: details && recordBy(details, last.summary ?? { at: createdAt, status: "idle" }, last),
    };
  });
}

async function withFile<T>(
  path: string,
  read: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  let handle: FileHandle;
  try {
    handle = await openOwn(path, constants.O_RDONLY);
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

/** The last line: the progress after it, and its summary. Nothing but the header has none. */
interface Last extends Pick<SessionRecord, "head" | "incarnation"> {
  readonly summary?: Summary;
  /** The line of the last update, which may be this one. */
  readonly changed?: number | undefined;
}

/** Reads backwards from the end until it has the last line and the seal of the line before it. */
async function readLast(handle: FileHandle): Promise<Last | undefined> {
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
      if (hash === undefined || checkSeal(hash, line) === undefined) return undefined;
      const [progress, summary] = [progressOf(line), readSummary(line)];
      if (progress === undefined || summary === undefined) return undefined;
      return { ...progress, summary, changed: summary.changed };
    }
    if (from === 0) return undefined;
  }
}

/** The details after the line of an update. Undefined if there is no such line there. */
function changedAt(
  path: string,
  { sessionId }: Header,
  at: number,
  begun: StoreDetails,
): StoreDetails | undefined {
  const line = readLineAt(path, at);
  const read = line && decodeEntry(line, undefined, sessionId);
  return read?.ok === true && read.value.change !== undefined
    ? withChange(begun, read.value.change)
    : undefined;
}
