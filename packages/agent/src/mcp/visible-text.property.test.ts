import fc from "fast-check";
import { expect, test, vi } from "vitest";

import { runs } from "../../../../tests/kit/runs.ts";
import { cappedText, visibleText } from "./visible-text.ts";

// Thousands of cases, on a machine that may do other things as well.
vi.setConfig({ testTimeout: 120_000 });

const letters = fc.constantFrom(
  "a",
  "é",
  "漢",
  "\u{1F600}",
  "\u2764",
  "\u0645",
  "\u0915",
  " ",
  "\n",
);
const hiddenOnes = fc.constantFrom(
  "\u0000",
  "\u001B",
  "\r",
  "\u00AD",
  "\u200B",
  "\u200C",
  "\u200D",
  "\u202E",
  "\u2066",
  "\uFE0F",
  "\u{E0041}",
  "\u{E0101}",
  "\uFEFF",
  "\uD800",
  "\uDC00",
  "\u3164",
);
const text = fc
  .array(fc.oneof(letters, hiddenOnes, fc.string({ unit: "binary" })), { maxLength: 40 })
  .map((pieces) => pieces.join(""));

test("visible text is well-formed, has no controls, tags or direction marks, and stays as it is", () => {
  const count = runs(5_000, 500_000);
  let changed = 0;
  fc.assert(
    fc.property(text, (given) => {
      const visible = visibleText(given);

      expect(visible.isWellFormed()).toBe(true);
      expect(visible.replaceAll(/[\t\n]/g, "")).not.toMatch(/\p{Cc}|[\u200B\u202A-\u202E]/u);
      expect(visible).not.toMatch(/[\u2060-\u206F\uFEFF\u{E0000}-\u{E0FFF}]|\u200D\u200D/u);
      expect(visibleText(visible)).toBe(visible);
      if (visible !== given) changed += 1;
    }),
    { numRuns: count },
  );
  console.log(`count: ${count} texts, ${changed} with something to take out`);
});

test("capped text keeps a beginning of at most that many bytes and tells the rest", () => {
  const count = runs(5_000, 500_000);
  fc.assert(
    fc.property(text, fc.nat(60), (given, limit) => {
      const whole = given.toWellFormed();
      const capped = cappedText(whole, limit);
      const size = Buffer.byteLength(whole);

      if (size <= limit) expect(capped).toBe(whole);
      else {
        const [, head = "", missing = ""] = /^([^]*)\n\[(\d+) bytes left out\]$/.exec(capped) ?? [];
        expect(whole.startsWith(head)).toBe(true);
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(limit);
        // Nothing shorter than a character is lost to the cap.
        expect(Buffer.byteLength(head)).toBeGreaterThan(limit - 4);
        expect(Buffer.byteLength(head) + Number(missing)).toBe(size);
      }
    }),
    { numRuns: count },
  );
  console.log(`count: ${count} cuts`);
});
