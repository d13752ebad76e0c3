import { expect, test } from "vitest";
import { checkDocument, checkMap, identifiersOf } from "./check-paths.ts";
import type { Tree } from "./check-paths.ts";

const source = `/** Not gone: oldName. */\nexport function openStore(path: string): Store { return new Store("kept", { fsyncMode: 1 }); }`;

function treeWith(pages: Readonly<Record<string, string>>): Tree {
  const files = ["packages/core/src/delta/fold.ts", "packages/core/src/index.ts", "docs/other.md"];
  const folders = [".", "packages/core", "packages/core/src", "packages/core/src/delta", "docs"];
  return {
    paths: new Set([...files, ...Object.keys(pages), ...folders.map((path) => `${path}/`)]),
    names: new Set(identifiersOf(source)),
    entries: new Set(["@millrace/core", "@millrace/core/ports"]),
    scripts: new Set(["check"]),
    read: (path) => pages[path] ?? (path.endsWith(".ts") ? source : "# Other page\n"),
  };
}

const problemsOf = (text: string, page = "README.md"): string[] =>
  checkDocument(page, treeWith({ [page]: text })).map((line) => line.replace(/^\S+ /, ""));

test("a path is found at the top, beside the page, in the package, and below the folder that the text states", () => {
  expect(problemsOf("`packages/core/src/delta/fold.ts`, `packages/*/src/<any>/fold.ts`")).toEqual(
    [],
  );
  expect(problemsOf("`src/delta/fold.ts` and `delta/fold.ts`", "packages/core/README.md")).toEqual(
    [],
  );
  expect(problemsOf("Paths are below `packages/core/src`.\n\n## A\n\n`delta/fold.ts`")).toEqual([]);
  expect(problemsOf("It is in core `delta/fold.ts`, also `fold.ts` alone.")).toEqual([]);
});

test("a path that is not there is reported with its line", () => {
  const lost = treeWith({ "README.md": "One\n\nSee `packages/core/src/delta/gone.ts`." });
  expect(checkDocument("README.md", lost)).toEqual([
    "README.md:3: there is no file packages/core/src/delta/gone.ts",
  ]);
  expect(problemsOf("`delta/fold.ts`")).toEqual(["there is no file delta/fold.ts"]);
  expect(problemsOf("`packages/core/src/{delta,gone}/`")).toHaveLength(1);
  expect(problemsOf("`gone.ts` is nowhere")).toEqual(["there is no file gone.ts"]);
});

test("a folder that a section states does not hold for the next section", () => {
  const text =
    "## A\n\nPaths are below `packages/core/src`: `delta/fold.ts`.\n\n## B\n\n`delta/fold.ts`";
  expect(problemsOf(text)).toEqual(["there is no file delta/fold.ts"]);
});

test("a name of the sources passes, also as a call, an option or one word in quotes", () => {
  expect(problemsOf("`openStore(path)`, `new Store(…)`, `{ fsyncMode: 2 }`, `kept()`")).toEqual([]);
});

test("a name that only a comment has, or none, is reported", () => {
  expect(problemsOf("`oldName`")).toEqual(["no source has the name oldName"]);
  expect(problemsOf("`openShop(path)`, `store.closeAll()`, `missing()`")).toEqual([
    "no source has the name openShop",
    "no source has the name closeAll",
    "no source has the name missing",
  ]);
});

test("routes, media types, headers, commands and code in fences are no names of ours", () => {
  const text =
    "`/v1/sessions`, `text/event-stream`, `Last-Event-ID`, `npm start -w examplesOf`, `https://a.example/bC`";
  expect(problemsOf(`${text}\n\n\`\`\`ts\nnoSuchName();\n\`\`\`\n`)).toEqual([]);
});

test("a link leads to a file and to a heading of it", () => {
  expect(problemsOf("[a](docs/other.md#other-page) [b](docs) [c](https://x.example)")).toEqual([]);
  expect(problemsOf("[a](docs/gone.md) [b](docs/other.md#no-heading)")).toEqual([
    "there is no file docs/gone.md",
    "there is no heading docs/other.md#no-heading",
  ]);
});

test("a script and an entry exist", () => {
  expect(problemsOf("`npm run check -- x`, `@millrace/core/ports`")).toEqual([]);
  expect(problemsOf("`./ports`", "packages/core/README.md")).toEqual([]);
  expect(problemsOf("`./gate`", "packages/core/README.md")).toEqual(["there is no file ./gate"]);
  expect(problemsOf("`npm run chekc`, `@millrace/core/port`")).toEqual([
    "there is no npm script chekc",
    "there is no entry @millrace/core/port",
  ]);
});

test("a step of a walk names a function of its file", () => {
  expect(problemsOf("1. `packages/core/src/index.ts`, `openStore`: opens.")).toEqual([]);
  expect(problemsOf("2. `packages/core/src/index.ts`, `openStore` and `fold`: opens.")).toEqual([
    "packages/core/src/index.ts has no fold",
  ]);
});

test("the map has a row for each folder of a package, and no other", () => {
  const map = (rows: string): string[] => checkMap("MAP.md", treeWith({ "MAP.md": rows }));
  expect(map("## Inside core\n\n| `delta/` | the fold |\n")).toEqual([]);
  expect(map("## Inside core\n\n| `event/` | facts |\n")).toEqual([
    'MAP.md: "Inside core" has no row for delta/',
    'MAP.md: "Inside core" has a row for event/, which is not there',
  ]);
  expect(map("# Map\n")).toEqual(['MAP.md: there is no section "Inside core"']);
});
