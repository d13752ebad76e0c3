/**
 * The pure folders stay pure because the linter says so; these tests make sure that it does, by
 * planting one violation per ban in a copy of the configuration.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./temporary.ts";
import { execute, root } from "./workspace.ts";

const pureFiles: readonly string[] = [
  "packages/core/src/content/planted.ts",
  "packages/core/src/delta/planted.ts",
  "packages/core/src/event/planted.ts",
  "packages/core/src/event/deeper/planted.ts",
  "packages/core/src/wire/planted.ts",
  "packages/agent/src/loop/state.ts",
  "packages/agent/src/loop/decide.ts",
];

const impureFiles: readonly string[] = [
  "packages/core/src/reference/planted.ts",
  "packages/core/src/delta/planted.test.ts",
  "packages/agent/src/loop/drive.ts",
];

// The bans need no types, and the copies have no compiler.
const configuration = readFileSync(join(root, ".oxlintrc.json"), "utf8").replace(
  `"typeAware": true`,
  `"typeAware": false`,
);

const violations: readonly string[] = [
  `export { readFileSync } from "node:fs";`,
  `export const module = import("node:fs");`,
  `export const a = Date.now();`,
  `export const b = new Date();`,
  `export const c = Math.random();`,
  `export const { random } = Math;`,
  `export const d = crypto.randomUUID();`,
  `export const e = setTimeout(() => {}, 1);`,
  `export const f = setInterval(() => {}, 1);`,
  `export const g = setImmediate(() => {});`,
  `export const h = queueMicrotask(() => {});`,
  `export const i = fetch("https://example.org");`,
  `export const j = performance.now();`,
  `export const k = process.env;`,
  `export const l = globalThis.Date.now();`,
];

test.each(violations)("the linter refuses %s in every pure file", async (violation) => {
  const content = `${violation}\n`;
  using folder = temporaryFolder({
    ".oxlintrc.json": configuration,
    ...Object.fromEntries([...pureFiles, ...impureFiles].map((file) => [file, content])),
  });

  const refused = await filesWithBans(folder.path);

  expect(refused).toEqual(pureFiles.toSorted());
});

test("the pure files of this repository break no ban", { timeout: 60_000 }, async () => {
  expect(await filesWithBans(root)).toEqual([]);
});

/** The files in which the linter reports something that is banned from pure folders. */
async function filesWithBans(folder: string): Promise<string[]> {
  const { output } = await execute(["oxlint", "--format=json"], folder);
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { code: string; filename: string }[];
  };
  const bans = diagnostics.filter(({ code }) => code.startsWith("eslint(no-restricted-"));
  return [...new Set(bans.map(({ filename }) => filename))].toSorted();
}
