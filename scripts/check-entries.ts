/**
 * Counts the names of every public entry and holds each count against its limit in `entry-limits.ts`.
 * Fails also for an exported name without a doc comment, and for a name that stands for two different
 * things in two entries: a reader who has met it in one place would misread it in the other.
 *
 *     node scripts/check-entries.ts
 *
 * Needs the built packages.
 */
import { join } from "node:path";
import ts from "typescript";
import { entryLimits, sharedNames } from "./entry-limits.ts";
import { type Package, publicEntries, publicPackages, report, root } from "./workspace.ts";

/** One name of an entry. */
export interface EntryName {
  readonly name: string;
  /** Where it is declared. One thing under one name in two entries has one declaration. */
  readonly declared: string;
  readonly isDocumented: boolean;
}

/** A public entry, by the specifier that users import it with, and all that it exports. */
export interface EntryNames {
  readonly specifier: string;
  readonly names: readonly EntryName[];
}

/** Reads the names of every entry from the built declarations, types included. */
export function readEntries(packages: readonly Package[], top: string = root): EntryNames[] {
  const entries = packages.flatMap(({ folder, manifest }) =>
    publicEntries(manifest).map(({ name, types }) => ({
      specifier: name === "index" ? manifest.name : `${manifest.name}/${name}`,
      file: join(top, folder, types),
    })),
  );
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.NodeNext,
      types: [],
      skipLibCheck: true,
      noEmit: true,
    },
  );
  const checker = program.getTypeChecker();
  return entries.map(({ specifier, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    return { specifier, names: symbols.map((symbol) => nameOf(symbol, checker)) };
  });
}

function nameOf(symbol: ts.Symbol, checker: ts.TypeChecker): EntryName {
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
  const [first] = target.declarations ?? [];
  return {
    name: symbol.name,
    declared: first === undefined ? "" : `${first.getSourceFile().fileName}:${target.name}`,
    isDocumented: target.getDocumentationComment(checker).length > 0,
  };
}

/** Returns one line for each problem. An empty list means that the entries are in order. */
export function checkEntries(
  entries: readonly EntryNames[],
  limits: Readonly<Record<string, number>>,
): string[] {
  return [
    ...entries.flatMap(({ specifier, names }) => {
      const limit = limits[specifier];
      if (limit === undefined) return [`${specifier}: entry-limits.ts has no limit for it`];
      return names.length > limit ? [`${specifier}: ${names.length} names, limit ${limit}`] : [];
    }),
    ...Object.keys(limits)
      .filter((specifier) => !entries.some((entry) => entry.specifier === specifier))
      .map((specifier) => `${specifier}: entry-limits.ts lists it, and no package has it`),
    ...entries.flatMap(({ specifier, names }) =>
      names
        .filter(({ isDocumented }) => !isDocumented)
        .map(({ name }) => `${specifier}: ${name} has no doc comment`),
    ),
    ...namesWithTwoMeanings(entries),
  ];
}

function namesWithTwoMeanings(entries: readonly EntryNames[]): string[] {
  const meanings = new Map<string, Map<string, string>>();
  for (const { specifier, names } of entries) {
    for (const { name, declared } of names) {
      const places = meanings.get(name) ?? new Map<string, string>();
      meanings.set(name, places.set(declared, specifier));
    }
  }
  return [...meanings]
    .filter(([name, places]) => places.size > 1 && !sharedNames.includes(name))
    .map(
      ([name, places]) => `${name} means different things in ${[...places.values()].join(", ")}`,
    );
}

if (import.meta.main) {
  const entries = readEntries(publicPackages());
  console.log("entry | names | limit");
  for (const { specifier, names } of entries) {
    console.log(`${specifier} | ${names.length} | ${entryLimits[specifier] ?? "none"}`);
  }
  report(
    checkEntries(entries, entryLimits),
    "entries: small, documented, one meaning for each name",
  );
}
