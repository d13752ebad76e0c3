/**
 * Which test files belong to which project of `vitest.config.ts`, by what they start. A test starts
 * what its own imports and those of its helpers reach, so there is no list to maintain.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/**
 * - `unit`: starts nothing, opens no port, stores no session on disk and parses no TypeScript.
 * - `local`: does one of these three in its own process.
 * - `integration`: starts child processes or workers: programs of ours, Redis, PostgreSQL.
 * - `browser`: starts Chromium.
 * - `temporal`: starts a Temporal server.
 * - `timed`: measures time, and runs alone. Its name ends in `.perf.test.ts`.
 */
export type TestKind = "unit" | "local" | "integration" | "browser" | "temporal" | "timed";

const tests =
  "{packages/*/{src,test},apps/*/src,examples/*,tests,scripts,differential}/**/*.test.ts";

/** What a file reaches, with the kind of test that this makes: the last one that is reached counts. */
const goals: readonly (readonly [specifier: string, kind: TestKind])[] = [
  ["typescript", "local"],
  ["oxc-parser", "local"],
  [".listen(", "local"],
  ["@millrace/providers/testing", "local"],
  ["@millrace/stores/file", "local"],
  ["packages/stores/src/file/file-store.ts", "local"],
  ["node:child_process", "integration"],
  ["node:worker_threads", "integration"],
  ["playwright-core", "browser"],
  ["scripts/services/temporal.ts", "temporal"],
];

/** The test files below a folder by their kind, relative to it. */
export function sortTests(top: string): Readonly<Record<TestKind, readonly string[]>> {
  const imports = new Map<string, readonly string[]>();
  const files = globSync(tests, { cwd: top, exclude: ["**/node_modules", "**/dist"] }).toSorted();
  const kinds = Map.groupBy(files, (file) => kindOf(file, reach(file, top, imports)));
  const all = (kind: TestKind): readonly string[] => kinds.get(kind) ?? [];
  return {
    unit: all("unit"),
    local: all("local"),
    integration: all("integration"),
    browser: all("browser"),
    temporal: all("temporal"),
    timed: all("timed"),
  };
}

function kindOf(file: string, found: ReadonlySet<string>): TestKind {
  if (file.endsWith(".perf.test.ts")) return "timed";
  return goals.findLast(([specifier]) => found.has(specifier))?.[1] ?? "unit";
}

/**
 * Everything that a file imports over relative imports: files of the tree, and packages by their names.
 * An import of one of our packages is not followed: most of them can start a process, and few tests
 * make them do so. `tests/kit/no-processes.ts` and `no-ports.ts` refuse those.
 */
function reach(file: string, top: string, imports: Map<string, readonly string[]>): Set<string> {
  const found = new Set([file]);
  for (const each of found) {
    if (!each.endsWith(".ts")) continue;
    const known = imports.get(each) ?? importsOf(each, top);
    imports.set(each, known);
    for (const specifier of known) found.add(specifier);
  }
  return found;
}

/**
 * What a file imports, relative to the top folder, without types, and `.listen(` if it calls that: no
 * source of our packages does, so it is a test or a helper that opens a port. By a pattern, since every run of
 * tests asks, and parsing two thousand files takes seconds. It relies on the formatter.
 */
function importsOf(file: string, top: string): readonly string[] {
  const path = join(top, file);
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  const imported = [...text.matchAll(importPattern)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? "";
    return specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : specifier;
  });
  return text.includes(".listen(") ? [...imported, ".listen("] : imported;
}

const importPattern =
  /^(?:import|export) (?!type )[^"';]*?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;
