import type { Fact } from "@millrace/core";
import { isReset } from "@millrace/core/store-kit";
import type { Floor, StoreDetails } from "@millrace/core/store-kit";
import { SessionLedger } from "@millrace/core/memory";
import type { FileHandle } from "node:fs/promises";
import { readBase } from "./base.ts";
import { corrupt } from "./corrupt.ts";
import { StoredFacts } from "./earlier.ts";
import { checkSeal, decodeEntry, decodeHeader, noHash } from "./line.ts";
import type { Header } from "./line.ts";
import { Places } from "./places.ts";
import { readLines } from "./scan.ts";
import type { RawLine } from "./scan.ts";
import { endsWith } from "./seal.ts";
import { withChange } from "./summary.ts";
import type { Change, FileDetails } from "./summary.ts";

/** What was read of a session's file, up to the last line that is whole. */
export interface Reading {
  readonly header: Header;
  /** The header's details, as updates have changed them. The writer changes it in its place. */
  readonly kept: FileDetails;
  /** Of all facts, or of those that are not in `stored`. */
  readonly ledger: SessionLedger;
  /** The facts up to a base, which were not read. */
  readonly stored?: StoredFacts | undefined;
  /** Where the lines begin that were read. */
  readonly places: Places;
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
  /** Read from the first line, also if there is a base: a reset needs all facts. */
  readonly whole?: boolean | undefined;
}

/**
 * Reads a session's file to its end, continuing an earlier reading or its base if there is one. Linear
 * in what is new.
 * Throws `corrupt_session` if any line that is read is not what was written, unless it is the last.
 */
export async function readSession(
  handle: FileHandle,
  options: ReadSessionOptions,
): Promise<Reading> {
  const { ino: inode, size, mtimeMs } = await handle.stat({ bigint: true });
  const span = { inode, length: Number(size), changedAt: Number(mtimeMs) };
  const usable = (reading: Reading | undefined): reading is Reading =>
    reading?.inode === inode && (options.whole !== true || reading.ledger.isWhole);
  const starts = [
    () => options.before,
    () => (options.whole === true ? undefined : startAtBase(handle, options, span)),
  ];
  for (const start of starts) {
    // The hash of its last line covers all lines before that one.
    const before = await start();
    if (!usable(before) || !(await endsWith(handle, before))) continue;
    const reading = await readOn(handle, options, { ...span, before });
    if (reading !== undefined) return reading;
  }
  const all = await readOn(handle, options, span);
  if (all === undefined) throw new TypeError("a reading from the first line is whole");
  return all;
}

/** A reading that ends with the base of the file. Undefined if there is none that fits. */
async function startAtBase(
  handle: FileHandle,
  { path, now }: ReadSessionOptions,
  { inode, length }: Span,
): Promise<Reading | undefined> {
  const first = await readLines(handle, { number: 0, at: 0 }, length).next();
  const line = first.done === true ? undefined : first.value;
  if (line === undefined || !line.ended || checkSeal(noHash, line.bytes) === undefined)
    return undefined;
  const header = decodeHeader(line.bytes);
  if (!header.ok) return undefined;
  const base = await readBase(path, header.value.uid);
  if (base === undefined || base.end > length) return undefined;
  const stored = new StoredFacts(path, header.value, base);
  const ledger = new SessionLedger({ ...header.value, now, earlier: stored });
  const { lines, end, hash, details, changed } = base;
  const [places, kept] = [new Places(), { details, changed }];
  const read = { header: header.value, kept, ledger, stored, places };
  return { ...read, lines, end, hash, tail: 0, inode };
}

interface Span {
  readonly inode: bigint;
  readonly length: number;
  /** When the file was last written, in milliseconds since 1970. */
  readonly changedAt: number;
  readonly before?: Reading;
}

/** Undefined if a reset follows on a base: it needs all facts. */
async function readOn(
  handle: FileHandle,
  { path, now }: ReadSessionOptions,
  { inode, length, changedAt, before }: Span,
): Promise<Reading | undefined> {
  let header = before?.header;
  let change: { readonly own: Change; readonly at: number } | undefined;
  let [lines, end, hash] = [before?.lines ?? 0, before?.end ?? 0, before?.hash ?? noHash];
  const known = before?.ledger.head ?? 0;
  const facts: Fact[] = [];
  const floors: Floor[] = [];
  const keys: (readonly [string, Fact])[] = [];
  const claims: (readonly [string, Fact])[] = [];
  const places = before?.places ?? new Places();
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
      const head = known + facts.length;
      const read = decodeEntry(line.bytes, head, header.sessionId);
      if (!read.ok) throw corrupt(path, line, read.message);
      const { key, by, floor, change: own } = read.value;
      if (own !== undefined) change = { own, at: line.at };
      const [first] = read.value.facts;
      for (const fact of read.value.facts) facts.push(fact);
      if (floor !== undefined) floors.push(floor);
      if (key !== undefined && first !== undefined) keys.push([key, first]);
      if (by !== undefined && first !== undefined) claims.push([by, first]);
      places.add({ head, at: line.at, number: line.number });
    }
    lines = line.number;
    end = line.at + line.bytes.length + 1;
    hash = next;
  }
  if (header === undefined) throw corrupt(path, { number: 1, at: 0 }, "the file is empty");
  const kept = before?.kept ?? { details: detailsOf(header, facts, changedAt), changed: undefined };
  if (change !== undefined) {
    [kept.details, kept.changed] = [withChange(kept.details, change.own), change.at];
  }
  const ledger = before?.ledger ?? new SessionLedger({ ...header, now });
  if (!ledger.isWhole && facts.some(isReset)) return undefined;
  ledger.load(facts, { floors, keys, claims });
  const stored = before?.stored;
  return { header, kept, ledger, stored, places, lines, end, hash, tail: length - end, inode };
}

/** The details that a file begins with. One of an earlier release is as old as its first fact. */
function detailsOf(header: Header, [first]: readonly Fact[], changedAt: number): StoreDetails {
  return { ...header, revision: 1, createdAt: header.createdAt ?? first?.time ?? changedAt };
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
