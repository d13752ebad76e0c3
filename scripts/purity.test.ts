/**
 * Lint rules keep the pure folders pure, and keep the machine's time and chance out of what has a clock. These tests check the rules, by planting one violation per
 * ban in a copy of the configuration.
 */
import { cpSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { execute } from "./execute.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

const pureFiles: readonly string[] = [
  "packages/core/src/content/planted.ts",
  "packages/core/src/delta/planted.ts",
  "packages/core/src/event/planted.ts",
  "packages/core/src/event/deeper/planted.ts",
  "packages/core/src/wire/planted.ts",
  "packages/agent/src/loop/planted.ts",
  "packages/agent/src/loop/deeper/planted.ts",
  "packages/providers/src/failure.ts",
  "packages/client/src/connection/planted.ts",
];

const impureFiles: readonly string[] = [
  "packages/core/src/reference/system.ts",
  "packages/core/src/delta/planted.test.ts",
  "packages/agent/src/loop/planted.test.ts",
  "packages/agent/src/process/planted.ts",
];

// The bans need no types, and the copies have no compiler.
const configuration = readFileSync(join(root, ".oxlintrc.json"), "utf8").replace(
  `"typeAware": true`,
  `"typeAware": false`,
);

const clock = `export const a = Date.now();`;

const violations: readonly string[] = [
  `export { readFileSync } from "node:fs";`,
  `export const module = import("node:fs");`,
  clock,
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

const clockedFiles: readonly string[] = [
  "packages/core/src/lane/planted.ts",
  "packages/core/src/reference/planted.ts",
  "packages/agent/src/session/planted.ts",
  "packages/server/src/serve/planted.ts",
  "packages/dialects/src/openai/planted.ts",
];

/** The machine's clock itself, what acts on processes of the machine, and tests. */
const unclockedFiles: readonly string[] = [
  "packages/core/src/reference/system.ts",
  "packages/agent/src/process/planted.ts",
  "packages/agent/src/mcp/planted.ts",
  "packages/server/src/testing/planted.ts",
  "packages/server/src/serve/planted.test.ts",
];

const unclocked: readonly string[] = [
  `export const a = Date.now();`,
  `export const b = performance.now();`,
  `export const c = Math.random();`,
  `export const d = setTimeout(() => {}, 1);`,
  `export const e = setInterval(() => {}, 1);`,
  `export const f = AbortSignal.timeout(1);`,
  `export { setTimeout as sleep } from "node:timers/promises";`,
  `export { setTimeout as wait } from "node:timers";`,
];

test.each(unclocked)("the linter refuses %s in every file that has a clock", async (violation) => {
  const content = `${violation}\n`;
  using folder = temporaryFolder({
    ".oxlintrc.json": configuration,
    ...Object.fromEntries([...clockedFiles, ...unclockedFiles].map((file) => [file, content])),
  });

  expect(await filesWithBans(folder.path)).toEqual(clockedFiles.toSorted());
});

test("a clock in the loop makes the linter exit with an error, as `npm run check` sees it", async () => {
  const [settings, file] = [".oxlintrc.json", "packages/agent/src/loop/a.ts"];
  using clean = temporaryFolder({ [settings]: configuration, [file]: "export const a = 1;\n" });
  using planted = temporaryFolder({ [settings]: configuration, [file]: `${clock}\n` });

  const before = await execute(["oxlint", "--format=unix"], clean.path);
  const after = await execute(["oxlint", "--format=unix"], planted.path);

  expect(before.ok).toBe(true);
  expect(after.ok).toBe(false);
  expect(after.output).toContain("Pure folder: time comes in as data.");
});

test("no file of this repository breaks a ban", async () => {
  // A copy, without types: with them, as in `npm run check`, the linter takes a hundred times as long.
  using folder = temporaryFolder({ ".oxlintrc.json": configuration });
  for (const sources of globSync("packages/*/src", { cwd: root })) {
    cpSync(join(root, sources), join(folder.path, sources), { recursive: true });
  }

  expect(await filesWithBans(folder.path)).toEqual([]);
});

/** The files in which the linter reports a ban of pure folders. */
async function filesWithBans(folder: string): Promise<string[]> {
  const { output } = await execute(["oxlint", "--format=json"], folder);
  const { diagnostics } = JSON.parse(output) as {
    diagnostics: { code?: string; filename: string }[];
  };
  const bans = diagnostics.filter(({ code }) => code?.startsWith("eslint(no-restricted-"));
  return [...new Set(bans.map(({ filename }) => filename))].toSorted();
}
