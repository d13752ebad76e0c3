import fc from "fast-check";
import { expect, it } from "vitest";
import { showInput } from "./show-input.ts";
import { runs } from "../../../../tests/kit/runs.ts";

const sly = [
  "\u202e",
  "\u200b",
  "\u2028",
  "\u0007",
  "\u001b",
  "\u00a0",
  "\ufeff",
  "\u{e0041}",
  "\u0085",
  "\r",
  "►",
];

it("what is shown reads back as the same input, and hides nothing", () => {
  const times = runs(5_000, 500_000);
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom(...sly), fc.string({ maxLength: 2 })),
    maxLength: 20,
  });
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(text))), (input) => {
      const shown = showInput(input);

      expect(JSON.parse(shown)).toEqual(input);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0►]/u);
    }),
    { numRuns: times },
  );
  console.log(`count: ${times} inputs`);
}, 120_000);

it("what is shown is never shortened", () => {
  const command = `${"x".repeat(100_000)} && echo the point`;

  expect(showInput({ command })).toBe(`{"command":"${command}"}`);
});
