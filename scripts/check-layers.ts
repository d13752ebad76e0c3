/**
 * Checks the one-way flow: every manifest and every import under packages/ against `layers.ts`,
 * index files (re-exports only) and the length of source files.
 *
 *     node scripts/check-layers.ts
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix } from "node:path";
import { type Program, Visitor, parseSync } from "oxc-parser";
import * as layers from "./layers.ts";
import { type Package, readPackages, report, root } from "./workspace.ts";

const scope = "@millrace/";

/** One parsed file and whose it is. */
interface Source {
  readonly file: string;
  readonly text: string;
  readonly program: Program;
  /** Whether it is for tests only: a test, a type test, or a helper in a folder named testing. */
  readonly isTest: boolean;
  readonly owner: Package;
  readonly rule: layers.PackageRule;
}

/** Returns one line per violation, `file:line: rule`. An empty list means the tree is in order. */
export function checkLayers(top: string = root, longFiles = layers.longFiles): string[] {
  const gone = Object.keys(longFiles).filter((file) => !existsSync(join(top, file)));
  return [
    ...gone.map((file) => `scripts/layers.ts:1: longFiles lists ${file}, which is not there`),
    ...readPackages(top).flatMap((owner) => {
      const rule = layers.packageRules[owner.id];
      const manifest = `${owner.folder}/package.json`;
      if (rule === undefined) return [`${manifest}:1: layers.ts has no rule for ${owner.id}`];
      return [
        ...checkManifest(owner, rule).map((problem) => `${manifest}:1: ${problem}`),
        ...globSync(`${owner.folder}/src/**/*.ts`, { cwd: top })
          .toSorted()
          .map((file): Source => ({ file, owner, rule, ...parse(join(top, file)) }))
          .flatMap((source) => [
            ...checkImports(source),
            ...checkIndex(source),
            ...checkLength(source, longFiles),
          ]),
      ];
    }),
  ];
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

function checkImports(source: Source): string[] {
  return findImports(source.program).flatMap(({ specifier, start }) => {
    const check = specifier.startsWith(".") ? checkRelative : checkPackage;
    const problem = check(specifier, source);
    return problem === undefined
      ? []
      : [`${source.file}:${lineOf(source.text, start)}: ${problem}`];
  });
}

/** A relative import stays in its package and, in core, goes down the folder order. */
function checkRelative(specifier: string, { file, isTest, owner }: Source): string | undefined {
  const { id, folder } = owner;
  const sources = `${folder}/src/`;
  const target = posix.join(posix.dirname(file), specifier);
  if (isTest) return undefined;
  if (!target.startsWith(sources)) return `${id} may not import ${target}, outside its own sources`;
  if (isForTests(target)) return `${id} may not import ${target}, which is not shipped`;
  if (id !== "core" || file === `${sources}index.ts`) return undefined;

  const from = firstFolder(file.slice(sources.length));
  const to = firstFolder(target.slice(sources.length));
  if (to === from || to === "") return undefined;
  const lower = from === "" ? [] : layers.coreFolders[from];
  if (lower === undefined) return `layers.ts has no rule for core/${from}`;
  return lower.includes(to) ? undefined : `core/${from || "*.ts"} may not import core/${to}`;
}

/** An import by name is of a package that the table allows and the manifest declares. */
function checkPackage(specifier: string, { isTest, owner, rule }: Source): string | undefined {
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

/** An index file is a list of names, not a place to live. */
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

function parse(file: string): Pick<Source, "text" | "program" | "isTest"> {
  const text = readFileSync(file, "utf8");
  return { text, program: parseSync(file, text).program, isTest: isForTests(file) };
}

function isForTests(file: string): boolean {
  return /\.test(-d)?\.ts$|\/src\/(.*\/)?testing\//.test(file);
}

/** Every module a program names: static, dynamic, re-exported, or in an `import("…")` type. */
function findImports(program: Program): { specifier: string; start: number }[] {
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

/** Whether a name is listed, or falls under a listed `scope/*`. */
function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("/*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

/** The folder a path begins with, or nothing for a bare file name. */
function firstFolder(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

if (import.meta.main) report(checkLayers(), "layers: every import goes down");
