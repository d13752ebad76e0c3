/**
 * Which tests start a process or a Temporal server, by what they import over relative imports. There
 * is no list to keep.
 */
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseSync } from "oxc-parser";
import { findImports } from "./sources.ts";

/**
 * The test files below a folder that start a process, relative to it: those that reach
 * `node:child_process`. Every test of a service is one, since a service is a process.
 * `tests/kit/no-processes.ts` refuses what this rule does not find.
 */
export function testsWithProcesses(top: string): string[] {
  return testsThatReach(
    "node:child_process",
    "{packages,apps/*/src,examples,tests,scripts}/**/*.test.ts",
    top,
  );
}

/**
 * The test files below a folder that start a Temporal server, relative to it. Looks only where such
 * tests are: every run of tests asks, and parsing all of them takes seconds.
 */
export function testsWithTemporal(top: string): string[] {
  return testsThatReach(
    "scripts/services/temporal.ts",
    "{packages/temporal/{src,test},tests/temporal,scripts/services}/**/*.test.ts",
    top,
  );
}

/** `goal` is a package's name or the path of a file. */
function testsThatReach(goal: string, tests: string, top: string): string[] {
  const known = new Map<string, boolean>();
  return globSync(tests, { cwd: top, exclude: ["**/node_modules", "**/dist"] })
    .filter((file) => reaches(goal, file, top, known))
    .toSorted();
}

/** `known` has the answers so far. A file in progress counts as no, so a circle ends. */
function reaches(goal: string, file: string, top: string, known: Map<string, boolean>): boolean {
  const answer = known.get(file);
  if (answer !== undefined) return answer;
  known.set(file, false);
  const found = importsOf(join(top, file)).some((specifier) => {
    const isRelative = specifier.startsWith(".");
    const target = isRelative ? posix.join(posix.dirname(file), specifier) : specifier;
    if (target === goal) return true;
    return isRelative && target.endsWith(".ts") && reaches(goal, target, top, known);
  });
  known.set(file, found);
  return found;
}

function importsOf(path: string): readonly string[] {
  const text = readFileSync(path, "utf8");
  return findImports(parseSync(path, text).program).map(({ specifier }) => specifier);
}
