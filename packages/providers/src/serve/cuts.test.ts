import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { cutBytes } from "./cuts.ts";
import type { Cuts } from "./cuts.ts";

const pieces = (text: string, cuts?: Cuts): readonly string[] =>
  cutBytes(new TextEncoder().encode(text), cuts).map((piece) => new TextDecoder().decode(piece));

test.each([
  ["a\n\nb\n\n", ["a\n\n", "b\n\n"]],
  ["a\r\n\r\nb\r\n\r\n", ["a\r\n\r\n", "b\r\n\r\n"]],
  ["a\r\rb\r\r", ["a\r\r", "b\r\r"]],
  ["a\n\r\nb\r\n\n", ["a\n\r\n", "b\r\n\n"]],
  ["a\nb\n\nc", ["a\nb\n\n", "c"]],
  ["\n\na\n\n", ["\n\na\n\n"]],
  ["", []],
])("the events of %j are %j", (text, events) => {
  expect(pieces(text, "event")).toEqual(events);
});

test("sizes are those of the first pieces, and the rest is one", () => {
  expect(pieces("abcdefg", [1, 2])).toEqual(["a", "bc", "defg"]);
  expect(pieces("abc", [2, 9, 9])).toEqual(["ab", "c"]);
  expect(pieces("abc", [])).toEqual(["abc"]);
  expect(pieces("abc")).toEqual(["abc"]);
});

test("random cuts are those of their seed", () => {
  const text = "x".repeat(5_000);

  expect(pieces(text, { seed: 1 })).toEqual(pieces(text, { seed: 1 }));
  expect(pieces(text, { seed: 1 })).not.toEqual(pieces(text, { seed: 2 }));
  expect(Math.max(...pieces(text, { seed: 1, largest: 7 }).map(({ length }) => length))).toBe(7);
});

test.each([0, -1, 1.5, Number.NaN])("a piece of %d bytes is refused", (size) => {
  expect(() => pieces("abc", [size])).toThrow(RangeError);
  expect(() => pieces("abc", { seed: 1, largest: size })).toThrow(RangeError);
});

test("pieces are never empty, and joined they are the bytes", () => {
  const cuts: fc.Arbitrary<Cuts> = fc.oneof(
    fc.constantFrom<Cuts>("whole", "event", "byte"),
    fc.array(fc.integer({ min: 1, max: 9 })),
    fc.record({ seed: fc.integer(), largest: fc.integer({ min: 1, max: 9 }) }),
  );
  const text = fc.string({ unit: fc.constantFrom("a", "\n", "\r", "é", ":") });
  const count = runs(2_000, 200_000);

  fc.assert(
    fc.property(text, cuts, (whole, plan) => {
      const bytes = Buffer.from(whole);
      const cut = cutBytes(bytes, plan);
      expect(Buffer.concat(cut).equals(bytes)).toBe(true);
      expect(cut.every(({ length }) => length > 0)).toBe(true);
    }),
    { numRuns: count },
  );
  console.log(`count: cut bytes are the same bytes, ${count} bodies, 0 failures`);
});
