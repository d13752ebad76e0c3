import { createRandom } from "./random.ts";

/**
 * How bytes are split into writes: not at all, after each server-sent event, after each byte, by
 * sizes (the rest is the last piece), or at random from a seed.
 */
export type Cuts = "whole" | "event" | "byte" | readonly number[] | RandomCuts;

/** Pieces of random length, the same for the same seed. */
export interface RandomCuts {
  readonly seed: number;
  /** The largest piece in bytes. Default: 64. */
  readonly largest?: number | undefined;
}

/** Splits bytes into pieces that are never empty and, joined, are the same bytes. */
export function cutBytes(bytes: Uint8Array, cuts: Cuts = "whole"): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  const sizeAt = sizesOf(bytes, cuts);
  for (let from = 0; from < bytes.length;) {
    const size = sizeAt(from);
    pieces.push(bytes.subarray(from, from + size));
    from += size;
  }
  return pieces;
}

function sizesOf(bytes: Uint8Array, cuts: Cuts): (from: number) => number {
  if (cuts === "whole") return () => bytes.length;
  if (cuts === "byte") return () => 1;
  if (cuts === "event") return (from) => eventEnd(bytes, from) - from;
  if ("seed" in cuts) {
    const random = createRandom(cuts.seed);
    const largest = size(cuts.largest ?? 64);
    return () => 1 + Math.floor(random() * largest);
  }
  const sizes = cuts.map(size).values();
  return () => sizes.next().value ?? bytes.length;
}

function size(value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new RangeError(`a piece of ${value} bytes can't be cut`);
}

const lf = 0x0a;
const cr = 0x0d;

/** The offset after the next blank line, with any of the three line endings. */
function eventEnd(bytes: Uint8Array, from: number): number {
  let blank = true;
  let begun = false;
  for (let at = from; at < bytes.length;) {
    const byte = bytes[at];
    if (byte !== lf && byte !== cr) {
      blank = false;
      begun = true;
      at += 1;
      continue;
    }
    at += byte === cr && bytes[at + 1] === lf ? 2 : 1;
    // Blank lines before the first field belong to the event that follows.
    if (blank && begun) return at;
    blank = true;
  }
  return bytes.length;
}
