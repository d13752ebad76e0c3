import type { Json } from "@millrace/core";
import { differences } from "./compare.ts";
import type { Implementation, Vector, VectorResult } from "./vector.ts";

/**
 * Puts each vector to the implementation, one after the other, and says how it did. An answer that
 * can't be had is a failure of its vector, never of the run.
 */
export async function* runVectors(
  implementation: Implementation,
  vectors: Iterable<Vector>,
): AsyncGenerator<VectorResult, void, undefined> {
  for (const { suite, name, input, expect } of vectors) {
    const actual = await ask(implementation, suite, input);
    const ok = differences(expect, actual).length === 0;
    yield { suite, name, ok, expected: expect, actual };
  }
}

async function ask(implementation: Implementation, suite: string, input: Json): Promise<Json> {
  try {
    return await implementation.answer(suite, input);
  } catch (error) {
    return { threw: error instanceof Error ? error.message : String(error) };
  }
}
