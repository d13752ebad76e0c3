/**
 * Which tests start a process, by what they import: a test file that reaches `node:child_process`
 * over relative imports does, and so does every test of a service, since a service is a process.
 * There is no list to keep. `tests/kit/no-processes.ts` refuses what this rule does not find.
 */
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseSync } from "oxc-parser";
import { findImports } from "./sources.ts";

/** The test files below a folder that start a process, relative to it. */
export function testsWithProcesses(top: string): string[] {
  const starts = new Map<string, boolean>();
  return globSync("{packages,apps,examples,tests,scripts}/**/*.test.ts", {
    cwd: top,
    exclude: ["**/node_modules", "**/dist"],
  })
    .filter((file) => reachesProcess(top, file, starts))
    .toSorted();
}

/** `starts` has the answers that are known. A file in progress counts as no, so a circle ends. */
function reachesProcess(top: string, file: string, starts: Map<string, boolean>): boolean {
  const known = starts.get(file);
  if (known !== undefined) return known;
  starts.set(file, false);
  const found = importsOf(join(top, file)).some(
    (specifier) =>
      specifier === "node:child_process" ||
      (specifier.startsWith(".") &&
        specifier.endsWith(".ts") &&
        reachesProcess(top, posix.join(posix.dirname(file), specifier), starts)),
  );
  starts.set(file, found);
  return found;
}

function importsOf(path: string): readonly string[] {
  const text = readFileSync(path, "utf8");
  return findImports(parseSync(path, text).program).map(({ specifier }) => specifier);
}
