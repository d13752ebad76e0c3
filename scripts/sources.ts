/** The source files of a package, parsed, and the modules that each of them names. */
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type Program, Visitor, parseSync } from "oxc-parser";
import type { Package } from "./workspace.ts";

/** One parsed file and the package that holds it. */
export interface Source {
  /** Relative to the top folder. */
  readonly file: string;
  readonly text: string;
  readonly program: Program;
  /** Whether it is for tests only: a test, a type test, or a helper in a folder named testing. */
  readonly isTest: boolean;
  readonly owner: Package;
  readonly imports: readonly Import[];
}

/** One module that a file names, types included. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** The imported file relative to the top folder; nothing for an import by a package's name. */
  readonly target: string | undefined;
}

/** Every source file of a package, tests included, in alphabetical order. */
export function readSources(top: string, owner: Package): Source[] {
  return globSync(`${owner.folder}/src/**/*.ts`, { cwd: top })
    .toSorted()
    .map((file) => {
      const text = readFileSync(join(top, file), "utf8");
      const { program } = parseSync(file, text);
      const imports = findImports(program).map(({ specifier, start }) => ({
        specifier,
        line: lineOf(text, start),
        target: specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : undefined,
      }));
      return { file, text, program, isTest: isForTests(file), owner, imports };
    });
}

export function isForTests(file: string): boolean {
  return /\.test(-d)?\.ts$|\/src\/(.*\/)?testing\//.test(file);
}

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Every module a program names: static, dynamic, re-exported, or in an `import("…")` type. */
export function findImports(program: Program): { specifier: string; start: number }[] {
  const found: { specifier: string; start: number }[] = [];
  const add = (node: { value?: unknown; start: number } | null): void => {
    if (typeof node?.value === "string") found.push({ specifier: node.value, start: node.start });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source),
    ExportNamedDeclaration: (node) => add(node.source),
    ExportAllDeclaration: (node) => add(node.source),
    ImportExpression: (node) => add("value" in node.source ? node.source : null),
    TSImportType: (node) => add(node.source),
  }).visit(program);
  return found;
}
