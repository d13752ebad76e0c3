import { expect, test } from "vitest";
import { loadVectors } from "./vectors/load.ts";
import { ourImplementation } from "./vectors/our-implementation.ts";
import { runVectors } from "./vectors/run-vectors.ts";

const ours = ourImplementation();

for (const vector of loadVectors()) {
  test(`${vector.suite}: ${vector.name}`, async () => {
    expect.assertions(2);

    for await (const { ok, expected, actual } of runVectors(ours, [vector])) {
      // The first assertion shows the difference; the second is how answers of other
      // implementations are judged.
      expect(actual).toEqual(expected);
      expect(ok).toBe(true);
    }
  });
}
