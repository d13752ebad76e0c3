/**
 * Which packages changed since their API report was written: only those are reported and packed anew,
 * which takes half a minute each. packages/api-hashes.json has a hash for each package, over its manifest,
 * its report and its built declarations. These are made from the package's own sources, and change with
 * the types of the packages that it imports. Code that leaves the declarations alone changes nothing.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isForTests } from "./sources.ts";
import { type Package, publicPackages, root } from "./workspace.ts";

const file = join(root, "packages/api-hashes.json");

/** What decides about a report or a packed package beside the package itself. */
const tools = ["api-report.ts", "changed-packages.ts", "check-packages.ts"].map((name) =>
  join("scripts", name),
);
const toolPackages = ["@arethetypeswrong/cli", "@microsoft/api-extractor", "publint", "tsc7"];

/** The public packages that are not as they were when `storeHashes` was called. Needs the build. */
export function changedPackages(): Package[] {
  const stored = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, string>>)
    : {};
  return publicPackages().filter((owner) => stored[owner.id] !== hashOf(owner));
}

export function storeHashes(): void {
  const hashes = Object.fromEntries(publicPackages().map((owner) => [owner.id, hashOf(owner)]));
  writeFileSync(file, `${JSON.stringify(hashes, undefined, 2)}\n`);
}

function hashOf({ folder }: Package): string {
  // By the sources, because a folder dist may hold what was built from files that are gone.
  const declarations = globSync(`${folder}/src/**/*.ts`, { cwd: root })
    .filter((source) => !isForTests(source))
    .toSorted()
    .map((source) => source.replace("/src/", "/dist/").replace(/\.ts$/, ".d.ts"));
  const hash = createHash("sha256");
  const own = [`${folder}/package.json`, `${folder}/api.md`, ...declarations];
  for (const path of [...own, ...tools]) {
    const text = existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "";
    hash.update(`${path}\n${text}\n`);
  }
  for (const name of toolPackages) hash.update(`${name} ${versionOf(name)}\n`);
  return hash.digest("hex").slice(0, 16);
}

function versionOf(name: string): string {
  const manifest = readFileSync(join(root, "node_modules", name, "package.json"), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
