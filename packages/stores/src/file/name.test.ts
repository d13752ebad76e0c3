import { sessionId } from "@millrace/core/writing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { idOfStem, isHashed, stemOf } from "./name.ts";

const odd = [
  "../x",
  "..",
  ".",
  "/",
  "a/b",
  "A",
  "a",
  "con",
  "CON",
  "lpt1",
  "👩‍👧",
  "%2e",
  "~",
  " ",
  "\u0000",
];
const ids = fc.oneof(
  fc.string({ minLength: 1, maxLength: 256, unit: "grapheme" }),
  fc.string({
    minLength: 1,
    maxLength: 8,
    unit: fc.constantFrom("a", "A", "%", "2", "e", ".", "~", "/"),
  }),
  fc.constantFrom(...odd),
);

describe("stemOf", () => {
  it.each([
    ["my-chat_7", "my-chat_7"],
    ["../x", "%2e%2e%2fx"],
    [".", "%2e"],
    ["A", "%41"],
    ["con", "%63on"],
    ["Con", "%43on"],
    ["é", "%c3%a9"],
    ["👍", "%f0%9f%91%8d"],
  ])("%j is the file %j", (id, stem) => {
    expect(stemOf(sessionId(id))).toBe(stem);
  });

  it("a name of 256 characters goes by its hash", () => {
    const stem = stemOf(sessionId("x".repeat(256)));

    expect(isHashed(stem)).toBe(true);
    expect(idOfStem(stem)).toBeUndefined();
  });

  it("is short, safe, and of one id alone, whatever the case", () => {
    const seen = new Map<string, string>();
    const count = runs(20_000, 2_000_000);
    fc.assert(
      fc.property(
        ids.filter((text) => text.length <= 256 && text.isWellFormed()),
        (text) => {
          const id = sessionId(text);
          const stem = stemOf(id);

          expect(stem).toMatch(/^(?:[a-z0-9_-]|%[0-9a-f]{2}|~)+$/);
          expect(stem.length).toBeLessThanOrEqual(120);
          expect(stem).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)$/);
          expect(seen.get(stem.toUpperCase()) ?? text).toBe(text);
          expect(isHashed(stem) ? id : idOfStem(stem)).toBe(id);
          seen.set(stem.toUpperCase(), text);
        },
      ),
      { numRuns: count },
    );
    console.log(`count: file names, ${count} ids, ${seen.size} names, 0 shared`);
  });

  it("a file name that no id has stands for none", () => {
    for (const stem of ["", "A", "%41%", "%6", "%61", "con", "%ff", "a.b", "~"]) {
      expect(idOfStem(stem)).toBeUndefined();
    }
  });
});
