/** Numbers that look random and come again with the same seed. */
export interface Random {
  /** A whole number from 0 up to, and not including, this one. */
  readonly below: (bound: number) => number;
  readonly pick: <T>(values: readonly T[]) => T;
}

/** Another sequence for each seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const below = (bound: number): number => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
  return {
    below,
    pick: (values) => {
      const picked = values[below(values.length)];
      if (picked === undefined) throw new RangeError("nothing to pick from");
      return picked;
    },
  };
}
