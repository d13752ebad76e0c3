import { constants } from "node:fs";
import { damage } from "./reading.ts";
import { checkSeal, decodeEntry, decodeHeader, noHash } from "./line.ts";
import type { Header } from "./line.ts";
import { openOwn } from "./own-file.ts";
import { readLines } from "./scan.ts";

/** A line of a session's file as it was at an earlier time. */
export interface Anchor {
  readonly line: number;
  readonly hash: string;
}

/** What `verify` compares the file with besides its own hashes. */
export interface FileVerifyOptions {
  /** Stored outside the file, it proves that since then no lines were cut off the end or rewritten. */
  readonly anchor?: Anchor | undefined;
}

/** What is wrong with a file. */
export type FileFaultCode =
  /** A line is not what was written, or not where it was written. */
  | "changed"
  /** A line is what was written, but this release can't read its form. */
  | "unreadable"
  /** The last append was not finished. Opening the session for writing cuts it off. */
  | "torn"
  /** The line that the anchor names is gone, or is another one. */
  | "not_anchored";

/** What `verifySessionFile` found. */
export type FileVerdict =
  | { readonly ok: true; readonly facts: number; readonly anchor: Anchor }
  | {
      readonly ok: false;
      readonly code: FileFaultCode;
      readonly line: number;
      /** The byte at which that line begins. */
      readonly at: number;
      readonly message: string;
    };

/**
 * Checks a session's file from its first byte to its last: every edit, gap, repetition and reorder
 * of its lines is found. Without an anchor two changes are not found: whole lines cut off the end, and
 * a file that was rewritten with all hashes computed again. Linear; changes nothing.
 */
export async function verifySessionFile(
  path: string,
  { anchor }: FileVerifyOptions = {},
): Promise<FileVerdict> {
  const handle = await openOwn(path, constants.O_RDONLY);
  try {
    const { size } = await handle.stat();
    let header: Header | undefined;
    let [hash, number, facts, anchored] = [noHash, 0, 0, anchor === undefined];
    for await (const line of readLines(handle, { number: 0, at: 0 }, size)) {
      const next = line.ended ? checkSeal(hash, line.bytes) : undefined;
      if (next === undefined) {
        const torn = header !== undefined && damage(line, hash, size) === undefined;
        const code = torn ? "torn" : "changed";
        return fault(code, line, torn ? "the last line is not whole" : "its checksum is wrong");
      }
      const read =
        header === undefined
          ? decodeHeader(line.bytes)
          : decodeEntry(line.bytes, facts, header.sessionId);
      if (!read.ok) return fault("unreadable", line, read.message);
      if ("uid" in read.value) header = read.value;
      else facts = read.value.head;
      if (anchor?.line === line.number) {
        if (anchor.hash !== next) return fault("not_anchored", line, "it has another hash");
        anchored = true;
      }
      [hash, number] = [next, line.number];
    }
    const end = { number: number + 1, at: size };
    if (header === undefined) return fault("changed", end, "there is no header");
    if (!anchored) return fault("not_anchored", end, "the file ends before that line");
    return { ok: true, facts, anchor: { line: number, hash } };
  } finally {
    await handle.close();
  }
}

function fault(
  code: FileFaultCode,
  { number, at }: { readonly number: number; readonly at: number },
  message: string,
): FileVerdict {
  return { ok: false, code, line: number, at, message };
}
