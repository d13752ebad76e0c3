import fc from "fast-check";
import { expect, it } from "vitest";
import { cutRows, cutTo, textWidth } from "./wrap.ts";
import { runs } from "../../../../tests/kit/runs.ts";

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "b", " ", "\n", "\t", "漢", "é", "👍"),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
  maxLength: 120,
});
const columns = fc.integer({ min: 8, max: 50 });

it("rows that are cut to the letter are the text when joined", () => {
  const times = runs(3_000, 300_000);
  fc.assert(
    fc.property(anyText, columns, (text, width) => {
      const rows = cutRows(text, width);

      expect(rows.join("")).toBe(text);
      for (const row of rows) expect(textWidth(row)).toBeLessThanOrEqual(width);
    }),
    { numRuns: times },
  );
  console.log(`count: ${times} texts`);
}, 120_000);

it("a text that is cut fits, and says that it was cut", () => {
  expect(cutTo("short", 10)).toBe("short");
  expect(cutTo("rather long", 8)).toBe("rather …");
  expect(textWidth(cutTo("漢字漢字漢字", 7))).toBeLessThanOrEqual(7);
});
