import { expect, test } from "vitest";
import { countLines } from "./count-lines.ts";
import { temporaryFolder } from "./temporary.ts";

const source = `/**
 * A comment of three lines, with "a string" in it.
 */
export const url = "https://example.org"; // a line of code

export const text = \`
// a line of code

\`;
// a comment
`;

test("a line is code, a comment or blank, and only the grammar decides which is a comment", () => {
  using folder = temporaryFolder({ "packages/core/src/a.ts": source });

  expect(countLines(folder.path).get("packages/core")).toEqual({
    code: 4,
    comments: 4,
    blank: 2,
    files: 1,
    longest: 10,
  });
});

test("tests, helpers of tests and what is no source of the product do not count", () => {
  using folder = temporaryFolder({
    "packages/core/src/a.ts": "export const a = 1;\n",
    "packages/core/src/a.test.ts": source,
    "packages/core/src/a.test-d.ts": source,
    "packages/core/src/testing/a.ts": source,
    "packages/core/src/event/testing/a.ts": source,
    "packages/core/vitest.config.ts": source,
    "apps/cli/src/main.ts": "// a comment\n\nexport const b = 1;\n",
    "tests/a.ts": source,
  });

  expect([...countLines(folder.path)]).toEqual([
    ["apps/cli", { code: 1, comments: 1, blank: 1, files: 1, longest: 3 }],
    ["total", { code: 2, comments: 1, blank: 1, files: 2, longest: 3 }],
    ["packages/core", { code: 1, comments: 0, blank: 0, files: 1, longest: 1 }],
  ]);
});
