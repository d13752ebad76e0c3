/**
 * Checks the one-way flow: every manifest and every import under packages/ against `layers.ts`,
 * index files (re-exports only) and the length of source files. Prints how many pairs of folders
 * import each other.
 *
 *     node scripts/check-layers.ts
 */
import { existsSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import { checkFolders, twoWayPairs } from "./folders.ts";
import * as layers from "./layers.ts";
import { type Source, isForTests, lineOf, readSources } from "./sources.ts";
import { type Package, readPackages, report, root } from "./workspace.ts";

const scope = "@millrace/";

/** The tables that differ in tests. */
export interface Tables {
  readonly folderRules: Readonly<Record<string, layers.FolderRules>>;
  readonly longFiles: Readonly<Record<string, string>>;
}

/**
 * Returns one line per violation, `file:line: rule`. An empty list means that the tree is valid.
 */
export function checkLayers(
  top: string = root,
  { folderRules, longFiles }: Tables = layers,
): string[] {
  const gone = Object.keys(longFiles).filter((file) => !existsSync(join(top, file)));
  return [
    ...gone.map((file) => `scripts/layers.ts:1: longFiles lists ${file}, which is not there`),
    ...readPackages(top).flatMap((owner) => {
      const rule = layers.packageRules[owner.id];
      const manifest = `${owner.folder}/package.json`;
      if (rule === undefined) return [`${manifest}:1: layers.ts has no rule for ${owner.id}`];
      const sources = readSources(top, owner);
      return [
        ...checkManifest(owner, rule).map((problem) => `${manifest}:1: ${problem}`),
        ...sources.flatMap((source) => [
          ...checkImports(source, rule),
          ...checkIndex(source),
          ...checkLength(source, longFiles),
        ]),
        ...checkFolders(owner.id, inFolders(sources), folderRules[owner.id]),
      ];
    }),
  ];
}

/** One line for every pair of folders that import each other, in any package. */
export function findTwoWayPairs(top: string = root): string[] {
  return readPackages(top).flatMap((owner) =>
    twoWayPairs(owner.id, inFolders(readSources(top, owner))),
  );
}

/** The sources of a package whose folder is checked: all but tests. */
function inFolders(sources: readonly Source[]): readonly Source[] {
  return sources.filter(({ isTest }) => !isTest);
}

function checkManifest({ id, manifest }: Package, rule: layers.PackageRule): string[] {
  const ours = rule.packages.map((name) => scope + name);
  const optional = Object.keys(manifest.optionalDependencies ?? {});
  const dependencies = Object.keys(manifest.dependencies ?? {});
  const peers = Object.keys(manifest.peerDependencies ?? {});
  const meta = manifest.peerDependenciesMeta ?? {};
  return [
    ...(manifest.name === scope + id ? [] : [`is named ${manifest.name}, not ${scope}${id}`]),
    ...optional.map((name) => `${id} may not have the optional dependency ${name}`),
    ...dependencies
      .filter((name) => !matches(name, [...ours, ...rule.dependencies]))
      .map((name) => `${id} may not depend on ${name}`),
    ...peers
      .filter((name) => !matches(name, rule.peers))
      .map((name) => `${id} may not have the peer dependency ${name}`),
    ...peers
      .filter((name) => rule.peersAreOptional && meta[name]?.optional !== true)
      .map((name) => `the peer dependency ${name} of ${id} must be optional`),
  ];
}

function checkImports(source: Source, rule: layers.PackageRule): string[] {
  return source.imports.flatMap(({ specifier, target, line }) => {
    const problem =
      target === undefined ? checkPackage(specifier, source, rule) : checkRelative(target, source);
    return problem === undefined ? [] : [`${source.file}:${line}: ${problem}`];
  });
}

/** A relative import stays in its package, and shipped code imports only shipped code. */
function checkRelative(target: string, { isTest, owner }: Source): string | undefined {
  const { id, folder } = owner;
  if (isTest) return undefined;
  if (!target.startsWith(`${folder}/src/`)) {
    return `${id} may not import ${target}, outside its own sources`;
  }
  return isForTests(target) ? `${id} may not import ${target}, which is not shipped` : undefined;
}

/** An import by name must be of a package that the table allows and the manifest declares. */
function checkPackage(
  specifier: string,
  { isTest, owner }: Source,
  rule: layers.PackageRule,
): string | undefined {
  const { id, manifest } = owner;
  if (specifier.startsWith("node:") || builtinModules.includes(specifier)) {
    return rule.node || isTest
      ? undefined
      : `${id} may not import ${specifier}: it runs everywhere`;
  }
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const isOurs = name.startsWith(scope);
  if (isTest && name === scope + id) return undefined;
  if (isTest && !isOurs) return undefined; // the root brings the test tools; knip checks them

  const packages = [...rule.packages, ...(isTest ? layers.packagesForTests : [])];
  const allowed = [...packages.map((other) => scope + other), ...rule.dependencies, ...rule.peers];
  if (!matches(name, allowed)) return `${id} may not import ${name}`;

  const forTests = isTest ? manifest.devDependencies : {};
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies, ...forTests };
  return name in declared ? undefined : `${id} imports ${name} but does not declare it`;
}

/** An index file may only re-export. */
function checkIndex({ file, text, program }: Source): string[] {
  if (posix.basename(file) !== "index.ts") return [];
  return program.body
    .filter((node) => node.type !== "ExportNamedDeclaration" || node.source === null)
    .map(
      (node) => `${file}:${lineOf(text, node.start)}: an index file holds only export { … } from`,
    );
}

function checkLength({ file, text, isTest }: Source, longFiles: object): string[] {
  const lines = text.trimEnd().split("\n").length;
  const isLong = lines > layers.lineLimit;
  if (isTest || isLong === file in longFiles) return [];
  return isLong
    ? [`${file}:${layers.lineLimit}: ${lines} lines, limit ${layers.lineLimit}`]
    : [`${file}:1: no longer long; remove it from longFiles`];
}

/** True if a name is listed, or matches a listed `scope/*`. */
function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("/*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

if (import.meta.main) {
  console.log(`two-way folder pairs: ${findTwoWayPairs().length}`);
  report(checkLayers(), "layers: every import goes down");
}
