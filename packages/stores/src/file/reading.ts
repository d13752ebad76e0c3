import { MillraceError } from "@millrace/core";
import type { Fact } from "@millrace/core";
import type { Floor } from "@millrace/core/ports";
import { SessionLedger } from "@millrace/core/memory";
import type { FileHandle } from "node:fs/promises";
import { checkSeal, decodeEntry, decodeHeader, noHash, sealLength, statedHash } from "./line.ts";
import type { Header } from "./line.ts";
import { lineFeed, readBlock, readLines } from "./scan.ts";
import type { RawLine } from "./scan.ts";

/** All that was read of a session's file, up to the last line that is whole. */
export interface Reading {
  readonly header: Header;
  readonly ledger: SessionLedger;
  /** How many lines are whole, how many bytes they have, and the last one's hash. */
  readonly lines: number;
  readonly end: number;
  readonly hash: string;
  /** Bytes after the last whole line: of an append that was cut off, or that is under way. */
  readonly tail: number;
  readonly inode: bigint;
}

/** Which file is read, and where reading starts. */
export interface ReadSessionOptions {
  readonly path: string;
  readonly now: () => number;
  /** An earlier reading to continue. Its ledger becomes that of the result. */
  readonly before?: Reading | undefined;
}

/**
 * Reads a session's file to its end, continuing an earlier reading if there is one. Linear in what is
 * new.
 * Throws `corrupt_session` if any line but the last is not what was written.
 */
export async function readSession(
  handle: FileHandle,
  options: ReadSessionOptions,
): Promise<Reading> {
  const { before } = options;
  const { ino: inode, size } = await handle.stat({ bigint: true });
  const length = Number(size);
  if (before === undefined || before.inode !== inode || !(await continues(handle, before))) {
    return readOn(handle, options, { inode, length });
  }
  return readOn(handle, options, { inode, length, before });
}

/** Whether the last line that was read is unchanged. Its hash covers all lines before it. */
async function continues(handle: FileHandle, { end, hash }: Reading): Promise<boolean> {
  const last = await readBlock(handle, end - sealLength - 1, sealLength + 1);
  return last.at(-1) === lineFeed && statedHash(last.subarray(0, -1)) === hash;
}

interface Span {
  readonly inode: bigint;
  readonly length: number;
  readonly before?: Reading;
}

async function readOn(
  handle: FileHandle,
  { path, now }: ReadSessionOptions,
  { inode, length, before }: Span,
): Promise<Reading> {
  let header = before?.header;
  let [lines, end, hash] = [before?.lines ?? 0, before?.end ?? 0, before?.hash ?? noHash];
  const known = before?.ledger.facts.length ?? 0;
  const facts: Fact[] = [];
  const floors: Floor[] = [];
  const keys: (readonly [string, Fact])[] = [];
  for await (const line of readLines(handle, { number: lines, at: end }, length)) {
    const next = line.ended ? checkSeal(hash, line.bytes) : undefined;
    if (next === undefined) {
      const why = header === undefined ? "it is not a header" : damage(line, hash, length);
      if (why !== undefined) throw corrupt(path, line, why);
      break;
    }
    if (header === undefined) {
      const read = decodeHeader(line.bytes);
      if (!read.ok) throw corrupt(path, line, read.message);
      header = read.value;
    } else {
      const read = decodeEntry(line.bytes, known + facts.length, header.sessionId);
      if (!read.ok) throw corrupt(path, line, read.message);
      const { key, floor } = read.value;
      const [first] = read.value.facts;
      for (const fact of read.value.facts) facts.push(fact);
      if (floor !== undefined) floors.push(floor);
      if (key !== undefined && first !== undefined) keys.push([key, first]);
    }
    lines = line.number;
    end = line.at + line.bytes.length + 1;
    hash = next;
  }
  if (header === undefined) throw corrupt(path, { number: 1, at: 0 }, "the file is empty");
  const ledger = before?.ledger ?? new SessionLedger({ ...header, now });
  ledger.load(facts, { floors, keys });
  return { header, ledger, lines, end, hash, tail: length - end, inode };
}

/**
 * Why a line that does not fit is damage; undefined if it is the torn end of the last append. A torn
 * append is the last thing in the file, and it is one line. If its beginning is a whole line, then the
 * line feed after that was changed.
 */
export function damage(line: RawLine, hash: string, size: number): string | undefined {
  if (line.at + line.bytes.length + (line.ended ? 1 : 0) < size) return "its checksum is wrong";
  const mark = '{"call":"';
  let at = line.bytes.indexOf(mark, 1);
  for (let tries = 0; at > 0 && tries < 16; tries += 1) {
    const whole = [at - 1, at].some((end) => checkSeal(hash, line.bytes.subarray(0, end)));
    if (whole) return "its end is changed";
    at = line.bytes.indexOf(mark, at + 1);
  }
  return undefined;
}

/** The error for a file that is not as it was written. */
export function corrupt(
  path: string,
  { number, at }: Pick<RawLine, "number" | "at">,
  why: string,
): MillraceError {
  return new MillraceError(
    "corrupt_session",
    `the session file ${path} is damaged in line ${number} at byte ${at}: ${why}`,
  );
}
