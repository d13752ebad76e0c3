import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../scripts/temporary.ts";
import { runs } from "./runs.ts";
import { printSections, readSections } from "./sections.ts";

type Sections = readonly (readonly [string, Uint8Array])[];

function readPrinted(sections: Sections): Sections {
  using folder = temporaryFolder();
  const path = join(folder.path, "sections.txt");
  writeFileSync(path, printSections(sections));
  return [...readSections(path)];
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));

test("what a reader of a diff does not see is written as an escape, and all else as it is", () => {
  const section = bytes('=== a\n{"t":"\\u00e9\\x"}\r\n\xef\xbb\xbf\xc3\xa9\n\xc3\n');

  expect(printSections([["é", section]])).toBe(
    '=== é\n\\x3D== a\n{"t":"\\u00e9\\x5Cx"}\\x0D\n\\xEF\\xBB\\xBFé\n\\xC3\n\n',
  );
});

test("sections that are printed are read as the same bytes in the same order", () => {
  const count = runs(400, 40_000);
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc
      .constantFrom("=== ", "\n", "\r\n", "\\x0A", "\\", "\xef\xbb\xbf", "\u0085", "data: 1")
      .map(bytes),
  );
  const section = fc
    .array(piece, { maxLength: 8 })
    .map((pieces) => new Uint8Array(Buffer.concat(pieces)));

  fc.assert(
    fc.property(fc.array(section, { maxLength: 4 }), (sections) => {
      const named = sections.map((content, at) => [`case ${at}`, content] as const);
      expect(readPrinted(named)).toEqual(named);
    }),
    { numRuns: count },
  );

  console.log(`count: sections read as they were printed, ${count} files, 0 failures`);
});

test("two sections of one name are refused", () => {
  expect(() =>
    readPrinted([
      ["a", bytes("1")],
      ["a", bytes("2")],
    ]),
  ).toThrow("two sections named a");
});
