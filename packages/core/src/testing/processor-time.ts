/**
 * The processor time of one round of work, in milliseconds, as the mean of several: then every size pays for
 * its share of the garbage, and a busy neighbour is not counted.
 */
export function processorTime(rounds: number, work: () => unknown): number {
  const start = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000 / rounds;
}

/** The middle one of several times, in order of size. */
export function median(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)] ?? 0;
}
