import { parseJson } from "@millrace/core/json";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../../tests/kit/runs.ts";
import { extendArguments, noArguments, restOfArguments } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";

interface Written {
  readonly arguments: Arguments;
  readonly shown: string;
}

/** Text fed in pieces, cut at the given places. */
function write(text: string, places: readonly number[]): Written {
  const cuts = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  const borders = [0, ...cuts, text.length];
  let written: Written = { arguments: noArguments, shown: "" };
  for (const [at, end] of borders.slice(1).entries()) {
    const extended = extendArguments(written.arguments, text.slice(borders[at], end));
    written = { arguments: extended.arguments, shown: written.shown + extended.shown };
  }
  return written;
}

const object = fc.dictionary(fc.string(), fc.jsonValue());
const places = fc.array(fc.nat(), { maxLength: 8 });
const space = fc.stringMatching(/^[ \n\t]{0,3}$/);

test("an object's text is shown to the letter and is whole at its last brace, however it is cut", () => {
  let count = 0;
  fc.assert(
    fc.property(object, places, space, fc.nat(2), (value, cuts, before, indent) => {
      const text = before + JSON.stringify(value, null, indent);
      const written = write(text, cuts);
      expect(written.shown).toBe(text);
      expect(written.arguments.phase).toBe("whole");
      expect(write(text.slice(0, -1), cuts).arguments.phase).not.toBe("whole");
      count += 1;
    }),
    { numRuns: runs(1_000, 100_000) },
  );
  console.log(`count: whole arguments are found at any cut, ${count} objects, 0 failures`);
}, 600_000);

test("a copy behind the arguments is left out, and anything else is kept", () => {
  let count = 0;
  fc.assert(
    fc.property(object, object, places, space, (value, other, cuts, between) => {
      const text = JSON.stringify(value);
      const doubled = write(text + between + text, cuts);
      expect(doubled.shown + restOfArguments(doubled.arguments)).toBe(text + between);
      const respelt = write(text + between + JSON.stringify(value, null, 1), cuts);
      // Invalid JSON can't be compared, and does not run.
      if (parseJson(text).ok) {
        expect(respelt.shown + restOfArguments(respelt.arguments)).toBe(text + between);
      }
      const another = JSON.stringify({ ...other, "": [value] });
      const both = write(text + between + another, cuts);
      expect(both.shown + restOfArguments(both.arguments)).toBe(text + between + another);
      count += 1;
    }),
    { numRuns: runs(1_000, 100_000) },
  );
  console.log(`count: only copies are left out, ${count} pairs, 0 failures`);
}, 600_000);
