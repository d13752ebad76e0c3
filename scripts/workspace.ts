/** Shared by the other scripts: paths, packages and reports. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The top folder of the repository. */
export const root: string = resolve(import.meta.dirname, "..");

/** The fields of a package.json that the scripts read. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** One folder under packages/ with its manifest. */
export interface Package {
  /** The folder's name, which is also the name after the npm scope. */
  readonly id: string;
  /** The folder, relative to the root. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** One public entry of a package: "." is `index`, "./reference" is `reference`. */
export interface Entry {
  readonly name: string;
  /** The built declaration file, relative to the package folder. */
  readonly types: string;
}

export function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}

/** Every package that has a manifest, in alphabetical order. */
export function readPackages(top: string = root): Package[] {
  return globSync("packages/*/package.json", { cwd: top })
    .toSorted()
    .map(dirname)
    .map((folder) => ({
      id: folder.slice("packages/".length),
      folder,
      manifest: readManifest(join(top, folder, "package.json")),
    }));
}

/** The packages that are published and have sources. Empty packages are skipped. */
export function publicPackages(): Package[] {
  return readPackages().filter(
    ({ folder, manifest }) => manifest.private !== true && existsSync(join(root, folder, "src")),
  );
}

/** The entries that a manifest's `exports` offers to TypeScript users. */
export function publicEntries(manifest: Manifest): Entry[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    if (typeof target === "string" || target["types"] === undefined) return [];
    const name = subpath === "." ? "index" : subpath.slice("./".length).replaceAll("/", "-");
    return [{ name, types: target["types"] }];
  });
}

/** Applies `work` to every item, as many at a time as the machine has cores. Keeps the order. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return results;
}

/** The numbers of successes and failures. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/** Prints problems and sets the exit code; without problems prints `good`. */
export function report(problems: readonly string[], good: string): void {
  if (problems.length === 0) return console.log(good);
  for (const problem of problems) console.error(problem);
  process.exitCode = 1;
}
