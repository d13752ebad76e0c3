/** The direction of bytes through a proxy. */
export type Direction = "to_server" | "to_client";

/** How a connection is cut: by an orderly end, or by a reset. */
export type CutKind = "fin" | "rst";

/**
 * Faults for the bytes of one direction of a connection. All given faults apply together. `at`
 * counts the bytes that this direction has delivered since the connection began; a fault whose
 * offset has already passed takes effect at once.
 */
export interface Faults {
  /** The latency of bytes. Does not limit the throughput. */
  readonly delayMs?: number | undefined;
  /** The largest additional latency of each piece, drawn from the seed. Order is kept. */
  readonly jitterMs?: number | undefined;
  /** How bytes are split into writes. */
  readonly slice?: Slice | undefined;
  /** Closes both ends of the connection after this many bytes. */
  readonly cut?: { readonly at: number; readonly by: CutKind } | undefined;
  /** Pauses once for a time. `Infinity` pauses until the faults change. */
  readonly stall?: { readonly at: number; readonly forMs: number } | undefined;
  /**
   * Half-open: after this many bytes nothing is read, written or closed, and neither end sees what
   * the other does.
   */
  readonly freeze?: { readonly at: number } | undefined;
  /** Holds bytes until there are this many, the source ends, or `flush()`. Then starts again. */
  readonly buffer?: { readonly bytes: number } | undefined;
  readonly bytesPerSecond?: number | undefined;
}

/** Small writes, as a slow network makes them. */
export interface Slice {
  /** The largest write. Boundaries lie at multiples of it, however the bytes arrived. */
  readonly bytes: number;
  /** Draws sizes from 1 to `bytes` from the seed. */
  readonly random?: boolean | undefined;
  /** The pause between two writes. */
  readonly everyMs?: number | undefined;
}

/**
 * Throws for invalid numbers, so that a typing error does not become a fault that never occurs.
 */
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
