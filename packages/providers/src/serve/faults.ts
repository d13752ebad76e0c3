/** The way that bytes go through a proxy. */
export type Direction = "to_server" | "to_client";

/** How a connection is cut: by an orderly end, or by a reset. */
export type CutKind = "fin" | "rst";

/**
 * What goes wrong with the bytes of one direction of a connection. All that are given apply
 * together. `at` counts the bytes that this direction has delivered since the connection began; a
 * fault whose place has already gone by takes hold at once.
 */
export interface Faults {
  /** How long bytes are on their way. It does not slow down a stream of them. */
  readonly delayMs?: number | undefined;
  /** Up to so much more for each piece that comes, drawn from the seed. Order is kept. */
  readonly jitterMs?: number | undefined;
  /** Pieces for single writes. */
  readonly slice?: Slice | undefined;
  /** Both ends of the connection are closed behind so many bytes. */
  readonly cut?: { readonly at: number; readonly by: CutKind } | undefined;
  /** Nothing moves for a time, once. `Infinity`: until the faults are changed. */
  readonly stall?: { readonly at: number; readonly forMs: number } | undefined;
  /**
   * Half-open: behind so many bytes nothing is read, written or closed any more, and neither end
   * learns what the other does.
   */
  readonly freeze?: { readonly at: number } | undefined;
  /** Bytes are held until there are so many, or the source ends, or `flush()`. Then again. */
  readonly buffer?: { readonly bytes: number } | undefined;
  readonly bytesPerSecond?: number | undefined;
}

/** Small writes, as a slow network makes them. */
export interface Slice {
  /** The largest write. Borders lie at multiples of it, however the bytes came. */
  readonly bytes: number;
  /** Sizes from 1 to `bytes`, drawn from the seed. */
  readonly random?: boolean | undefined;
  /** Between two writes. */
  readonly everyMs?: number | undefined;
}

/** Throws for numbers that mean nothing, so that a fault that never strikes is not a mistake. */
export function checkFaults(faults: Faults): Faults {
  const { slice, cut, stall, freeze, buffer } = faults;
  const numbers: readonly (readonly [string, number | undefined, number])[] = [
    ["delayMs", faults.delayMs, 0],
    ["jitterMs", faults.jitterMs, 0],
    ["slice.bytes", slice?.bytes, 1],
    ["slice.everyMs", slice?.everyMs, 0],
    ["cut.at", cut?.at, 0],
    ["stall.at", stall?.at, 0],
    ["stall.forMs", stall?.forMs, 0],
    ["freeze.at", freeze?.at, 0],
    ["buffer.bytes", buffer?.bytes, 1],
    ["bytesPerSecond", faults.bytesPerSecond, 1],
  ];
  for (const [name, value, least] of numbers) {
    if (value !== undefined && !(value >= least)) {
      throw new RangeError(`${name} must be at least ${least}, not ${value}`);
    }
  }
  return faults;
}
