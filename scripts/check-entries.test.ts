import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { checkEntries, readEntries } from "./check-entries.ts";
import { temporaryFolder } from "./temporary.ts";
import type { Package } from "./workspace.ts";

/** A package with two entries, made of built declarations. */
const example: Package = {
  id: "example",
  folder: "packages/example",
  manifest: {
    name: "@millrace/example",
    exports: {
      ".": { types: "./dist/index.d.ts" },
      "./more": { types: "./dist/more.d.ts" },
      "./package.json": "./package.json",
    },
  },
};

const declarations: Readonly<Record<string, string>> = {
  "index.d.ts": `export { one } from "./one.js";\nexport type { Two } from "./one.js";\n`,
  "more.d.ts": `export { one } from "./one.js";\n`,
  "one.d.ts": `/** One. */\nexport declare const one: number;\n/** Two. */\nexport type Two = 2;\n`,
};

const limits = { "@millrace/example": 2, "@millrace/example/more": 1 };

/** The problems of the example, with some of its declarations replaced. */
function problemsWith(
  plant: Readonly<Record<string, string>>,
  limitsOfCase: Readonly<Record<string, number>> = limits,
): readonly string[] {
  using folder = temporaryFolder();
  for (const [name, text] of Object.entries({ ...declarations, ...plant })) {
    const path = join(folder.path, example.folder, "dist", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  writeFileSync(join(folder.path, example.folder, "package.json"), `{ "type": "module" }`);
  return checkEntries(readEntries([example], folder.path), limitsOfCase);
}

test("entries that keep to their limits are in order", () => {
  const problems = problemsWith({});

  expect(problems).toEqual([]);
});

test("an entry with a name too many is reported with its count, types included", () => {
  const problems = problemsWith({}, { ...limits, "@millrace/example": 1 });

  expect(problems).toEqual(["@millrace/example: 2 names, limit 1"]);
});

test("an entry without a limit is reported, and so is a limit without an entry", () => {
  const problems = problemsWith({}, { "@millrace/example": 2, "@millrace/example/gone": 1 });

  expect(problems).toEqual([
    "@millrace/example/more: entry-limits.ts has no limit for it",
    "@millrace/example/gone: entry-limits.ts lists it, and no package has it",
  ]);
});

test("a name without a doc comment is reported for each entry that exports it", () => {
  const bare = `export declare const one: number;\n/** Two. */\nexport type Two = 2;\n`;

  const problems = problemsWith({ "one.d.ts": bare });

  expect(problems).toEqual([
    "@millrace/example: one has no doc comment",
    "@millrace/example/more: one has no doc comment",
  ]);
});

test("a name that two entries declare apart is reported", () => {
  const another = `/** Another one. */\nexport declare const one: string;\n`;

  const problems = problemsWith({ "more.d.ts": another });

  expect(problems).toEqual([
    "one means different things in @millrace/example, @millrace/example/more",
  ]);
});
