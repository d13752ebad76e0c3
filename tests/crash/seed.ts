import { Random } from "../kit/random.ts";

/** Numbers that look random and are the same each time. Each is in [0, 1). */
export function numbersFrom(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}

/**
 * So many of the places, each once, at which a process is killed. The sorts of boundaries are all as
 * likely, however many there are of each: effects are few and matter most.
 */
export function choosePlaces(
  boundaries: readonly string[],
  count: number,
  random: () => number,
): readonly number[] {
  const frequency = new Map<string, number>();
  for (const sort of boundaries) frequency.set(sort, (frequency.get(sort) ?? 0) + 1);
  // A weighted sample: of the numbers u^(1/weight) the highest, with one over the frequency as weight.
  return boundaries
    .map((sort, index) => ({ place: index + 1, key: random() ** (frequency.get(sort) ?? 1) }))
    .toSorted((one, other) => other.key - one.key)
    .slice(0, count)
    .map(({ place }) => place);
}
