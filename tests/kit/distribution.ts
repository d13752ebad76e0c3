/** The value below which this share of the values lies. 0 without any. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
}

/** A distribution of milliseconds in one line. */
export function distribution(values: readonly number[]): string {
  const [half, most, last] = [0.5, 0.95, 0.99].map((share) => percentile(values, share));
  return `n ${values.length}, median ${half} ms, p95 ${most} ms, p99 ${last} ms, max ${percentile(values, 1)} ms`;
}
