/** A promise of "Identity and order" that a history broke. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** Throws if a promise does not hold. The sentence is made only then: it is asked millions of times. */
export function promise(holds: boolean, sentence: () => string): asserts holds {
  if (!holds) throw new Violation(sentence());
}
