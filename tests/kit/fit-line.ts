/** A straight line. */
export interface Line {
  /** The growth for each one more. */
  readonly slope: number;
  /** The value at 0. */
  readonly fixed: number;
}

/** The line with the least squared distance to points of at least two different places. */
export function fitLine(points: readonly (readonly [at: number, value: number])[]): Line {
  const meanAt = points.reduce((sum, [at]) => sum + at, 0) / points.length;
  const mean = points.reduce((sum, [, value]) => sum + value, 0) / points.length;
  const spread = points.reduce((sum, [at]) => sum + (at - meanAt) ** 2, 0);
  const common = points.reduce((sum, [at, value]) => sum + (at - meanAt) * (value - mean), 0);
  const slope = common / spread;
  return { slope, fixed: mean - slope * meanAt };
}
