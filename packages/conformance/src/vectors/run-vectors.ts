import type { Json } from "@millrace/core";
import { differences } from "./compare.ts";
import type { Implementation, Vector, VectorResult } from "./vector.ts";

/**
 * Runs the vectors on an implementation, one after the other, and yields each result. A missing
 * answer is a failure of its vector, never of the run.
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
