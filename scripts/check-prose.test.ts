import { expect, test } from "vitest";
import { findPersonalWords } from "./check-prose.ts";
import { temporaryFolder } from "./temporary.ts";

test("words about people are found in comments, across line ends, with their file and line", () => {
  using folder = temporaryFolder({
    "packages/core/src/a.ts": `/** Whoever is told of it. */
export const a = 1; // what was said
// a comment about who
// is attached
/**
 * And who
 * is attached here.
 */
`,
  });

  expect(findPersonalWords(folder.path)).toEqual([
    "packages/core/src/a.ts:1: Whoever",
    "packages/core/src/a.ts:1: told",
    "packages/core/src/a.ts:2: said",
    "packages/core/src/a.ts:3: who is",
    "packages/core/src/a.ts:6: who is",
  ]);
});

test("code, strings, tests and helpers of tests may have any word", () => {
  using folder = temporaryFolder({
    "packages/core/src/a.ts": `const told = "said // who"; // who\nis(told);\n`,
    "packages/core/src/a.test.ts": "// told\n",
    "packages/core/src/testing/a.ts": "// told\n",
    "apps/cli/src/main.ts": "// retold, saids\n",
    "tests/a.ts": "// told\n",
  });

  expect(findPersonalWords(folder.path)).toEqual([]);
});
