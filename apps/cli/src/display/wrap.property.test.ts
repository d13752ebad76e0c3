import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWrap, cutRows, cutTo, textWidth, wrapText } from "./wrap.ts";
import { runs } from "../../../../tests/kit/runs.ts";

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "b", " ", "\n", "\t", "漢", "é", "👍"),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
  maxLength: 120,
});
const columns = fc.integer({ min: 8, max: 50 });

describe("wrapped text", () => {
  it("has no row wider than the terminal, however it was cut into pieces", () => {
    const times = runs(3_000, 300_000);
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 6 }), columns, (pieces, width) => {
        const wrap = createWrap(() => width);
        const rows = [...pieces.flatMap((piece) => wrap.write(piece)), ...wrap.end()];

        for (const row of rows) expect(textWidth(row)).toBeLessThanOrEqual(width);
        expect(rows).toEqual(wrapText(pieces.join(""), width));
      }),
      { numRuns: times },
    );
    console.log(`count: ${times} texts`);
  }, 120_000);

  it("never breaks a word that fits into a row", () => {
    const times = runs(3_000, 300_000);
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), columns, (words, width) => {
        expect(wrapText(words.join(" "), width).join(" ").split(" ")).toEqual(
          words.length === 0 ? [""] : words,
        );
      }),
      { numRuns: times },
    );
    console.log(`count: ${times} texts`);
  }, 120_000);
});

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
