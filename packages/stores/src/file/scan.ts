import type { FileHandle } from "node:fs/promises";

/** One line of a file, without its line feed. */
export interface RawLine {
  /** Counted from 1. */
  readonly number: number;
  /** The byte at which it begins. */
  readonly at: number;
  readonly bytes: Buffer;
  /** False for the bytes after the last line feed. */
  readonly ended: boolean;
}

/** Where reading starts: after that many lines and bytes. */
export interface LinePlace {
  readonly number: number;
  readonly at: number;
}

const blockLength = 256 * 1024;
/** The byte that ends a line. JSON never holds it unescaped. */
export const lineFeed = 0x0a;

/** The lines from a place up to byte `size`, each once. Linear, with one block and one line in memory. */
export async function* readLines(
  handle: FileHandle,
  from: LinePlace,
  size: number,
): AsyncGenerator<RawLine, void, undefined> {
  let { number, at } = from;
  let begun: Buffer[] = []; // the parts of a line that goes on in the next block
  for (let next = at; next < size;) {
    const block = await readBlock(handle, next, Math.min(blockLength, size - next));
    if (block.length === 0) break; // the file was truncated meanwhile
    next += block.length;
    let start = 0;
    for (let end = block.indexOf(lineFeed); end >= 0; end = block.indexOf(lineFeed, start)) {
      const bytes = Buffer.concat([...begun, block.subarray(start, end)]);
      begun = [];
      number += 1;
      yield { number, at, bytes, ended: true };
      at += bytes.length + 1;
      start = end + 1;
    }
    if (start < block.length) begun.push(block.subarray(start));
  }
  const rest = Buffer.concat(begun);
  if (rest.length > 0) yield { number: number + 1, at, bytes: rest, ended: false };
}

/** The bytes at a place, as many as there are up to `length`. */
export async function readBlock(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(block, filled, length - filled, at + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return block.subarray(0, filled);
}
