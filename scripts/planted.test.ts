import { basename } from "node:path";
import { expect, it } from "vitest";
import {
  type Found,
  type SourceText,
  applyEdits,
  findEdits,
  rename,
  tokensOf,
} from "./find-code.ts";
import { Places, parseDefects, readCode, readDefects } from "./planted-defects.ts";
import { temporaryFolder } from "./temporary.ts";

const code = readCode();
const defects = [...readDefects("defects"), ...readDefects("lines")];

/** What edits change, as tokens, with the new names of this test put back. */
function changes(found: readonly Found[]): string {
  const tokens = [...applyEdits(found).values()].flatMap((text) => tokensOf(text));
  const names = tokens.map(({ text }) => text.replace(/_renamed$/, ""));
  return names.join(" ").replaceAll(/(\S+) : \1(?= [,}])/g, "$1");
}

/** A local variable of each source that is in code of a defect. */
function localsOf(found: readonly Found[]): ReadonlyMap<SourceText, string> {
  const locals = found.flatMap(({ source, start, end }) => {
    const names = tokensOf(source.text.slice(start, end)).filter(({ isName }) => isName);
    const local = names.find(({ text }) => source.text.includes(`  const ${text} =`));
    return local === undefined ? [] : [[source, local.text] as const];
  });
  return new Map(locals);
}

it("every planted defect applies after ten variables and three files were renamed", () => {
  // Those that do not apply anyway are named by `npm run check`.
  const before = [...new Set(defects.map(({ edits }) => edits))].flatMap((edits) => {
    const found = findEdits(code, edits);
    return typeof found === "string" ? [] : [{ edits, found }];
  });
  const locals = [...localsOf(before.flatMap(({ found }) => found))];
  const ten = new Map(
    locals.filter((_, at) => at % Math.floor(locals.length / 10) === 0).slice(0, 10),
  );
  const three = [...ten.keys()].slice(0, 3);
  const renamed = code.map((source) => {
    const local = ten.get(source);
    if (local === undefined) return source;
    const name = basename(source.file, ".ts");
    const file = three.includes(source) ? `packages/temporal/src/moved/${name}_2.ts` : source.file;
    const text = rename(source.text, { variables: new Map([[local, `${local}_renamed`]]) });
    return { file, text };
  });

  for (const { edits, found } of before) {
    const after = findEdits(renamed, edits);
    if (typeof after === "string") expect.fail(after);
    if (found.some(({ source }) => ten.has(source))) expect(changes(after)).toBe(changes(found));
    else expect(after).toEqual(found);
  }
  console.log(`count: ${before.length} defects, renamed ${[...ten.values()].join(", ")}`);
});

it("a defect has a name, tests and edits", () => {
  const text = `=== 1-a
# It is wrong,
# and more.
# caught by: a.test.ts -t is right
# caught by: b.test.ts c.test.ts
@@ core f
 one();
-two();
+three();
@@ core
-four
`;
  const edits = [
    { in: "core", symbol: "f", find: "one();\ntwo();", replace: "one();\nthree();" },
    { in: "core", symbol: "", find: "four", replace: "" },
  ];
  const defect = { name: "1-a", what: "It is wrong, and more.", edits };
  expect(parseDefects(text)).toEqual([
    { ...defect, files: ["a.test.ts"], test: "is right" },
    { ...defect, files: ["b.test.ts", "c.test.ts"], test: undefined },
  ]);
});

it("a test is found by its path, its file's name or its own name", () => {
  using folder = temporaryFolder({
    "packages/core/src/a.test.ts": `it("is a")`,
    "packages/core/src/b.test.ts": `it("is b")`,
    "packages/agent/src/b.test.ts": `it("is c")`,
  });
  const places = new Places(folder.path);
  const find = (file: string, test?: string) => places.tests({ files: [file], test });
  expect(find("packages/core/src/b.test.ts")).toEqual(["packages/core/src/b.test.ts"]);
  expect(find("packages/agent/src/a.test.ts")).toEqual(["packages/core/src/a.test.ts"]);
  expect(find("packages/stores/src/b.test.ts", "is c")).toEqual(["packages/agent/src/b.test.ts"]);
  expect(find("packages/core/src/d.test.ts", "is a")).toEqual(["packages/core/src/a.test.ts"]);
  expect(find("packages/stores/src/b.test.ts")).toBe("no test file packages/stores/src/b.test.ts");
});
