/**
 * Makes a new project with this checkout's packages, as `npm create millrace` does with published ones: packs them
 * and the creator, runs the packed creator, and lets the project install the packed packages.
 *
 *     npm run create -- ../my-app                          asks four questions
 *     npm run create -- ../my-app --template api --yes     asks nothing
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { execute } from "./execute.ts";
import { temporaryFolder } from "./temporary.ts";
import { publicPackages, readManifest } from "./workspace.ts";

/** What is packed: a file for each package that projects use, and the creator's. */
export interface Packed {
  readonly creator: string;
  /** From the name of a package to its file. */
  readonly packages: Readonly<Record<string, string>>;
}

/** Packages that no project has: they are for tests of stores. */
const unused = ["conformance"];

/** Builds and packs into a folder. */
export async function packAll(folder: string): Promise<Packed> {
  const packages = publicPackages().filter(({ id }) => !unused.includes(id));
  const folders = [...packages.map((found) => `./${found.folder}`), "./apps/create-millrace"];
  const built = await execute(["node", "node_modules/tsc7/bin/tsc", "-b", ...folders]);
  if (!built.ok) throw new Error(`the build failed\n${built.output}`);
  const command = ["npm", "pack", "--silent", "--pack-destination", folder] as const;
  const packed = await execute([...command, ...folders]);
  if (!packed.ok) throw new Error(`npm pack failed\n${packed.output}`);
  const files = packed.output.trim().split("\n");
  const fileAt = (at: number): string => join(folder, files.at(at) ?? "");
  return {
    creator: fileAt(-1),
    packages: Object.fromEntries(packages.map(({ manifest }, at) => [manifest.name, fileAt(at)])),
  };
}

/** Copies the packed packages into a project, and lets it use them instead of published ones. */
export function usePacked(project: string, { packages }: Packed): void {
  const path = join(project, "package.json");
  const manifest = readManifest(path);
  const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, version]) => {
    const file = packages[name];
    if (file === undefined) return [name, version];
    cpSync(file, join(project, "packed", basename(file)));
    return [name, `file:packed/${basename(file)}`];
  });
  const changed = { ...manifest, dependencies: Object.fromEntries(dependencies) as object };
  writeFileSync(path, `${JSON.stringify(changed, undefined, 2)}\n`);
  const dockerfile = join(project, "Dockerfile");
  const text = readFileSync(dockerfile, "utf8");
  const copy = "COPY package*.json ./\n";
  writeFileSync(dockerfile, text.replaceAll(copy, `${copy}COPY packed packed\n`));
}

if (import.meta.main) {
  const words = process.argv.slice(2);
  const [folder] = words;
  if (folder === undefined || folder.startsWith("-")) {
    throw new Error("name the folder of the new project first: npm run create -- ../my-app");
  }
  using temporary = temporaryFolder();
  const packed = await packAll(temporary.path);
  const command = ["exec", "--yes", `--package=${packed.creator}`, "--", "create-millrace"];
  const creator = spawn("npm", [...command, ...words], { stdio: "inherit" });
  const [code] = (await once(creator, "exit")) as [number | null];
  process.exitCode = code ?? 1;
  const project = resolve(folder);
  if (code === 0 && existsSync(join(project, "package.json"))) usePacked(project, packed);
}
