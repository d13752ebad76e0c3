import type { FileHandle } from "node:fs/promises";
import { sealLength, statedHash } from "./line.ts";
import { lineFeed, readBlock } from "./scan.ts";

/** Whether a line of this hash ends before this byte of the file. */
export async function endsWith(
  handle: FileHandle,
  { end, hash }: { readonly end: number; readonly hash: string },
): Promise<boolean> {
  const last = await readBlock(handle, end - sealLength - 1, sealLength + 1);
  return last.at(-1) === lineFeed && statedHash(last.subarray(0, -1)) === hash;
}
