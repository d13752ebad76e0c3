/**
 * Packs every public package that changed (changed-packages.ts) as npm would publish it and checks the result: publint for its shape,
 * attw for its types as each kind of importer sees them.
 *
 *     node scripts/check-packages.ts
 *
 * Needs the built packages.
 */
import { join } from "node:path";
import { changedPackages } from "./changed-packages.ts";
import { execute } from "./execute.ts";
import { temporaryFolder } from "./temporary.ts";
import { type Package, report, root } from "./workspace.ts";

/** Packs one package into `folder` and returns its problems. */
async function checkPackage({ folder, manifest }: Package, workspace: string): Promise<string[]> {
  const packed = await execute(
    ["npm", "pack", "--silent", "--pack-destination", workspace],
    join(root, folder),
  );
  if (!packed.ok) return [`${manifest.name}: npm pack failed\n${packed.output}`];
  const tarball = join(workspace, packed.output.trim().split("\n").at(-1) ?? "");
  const judged = await Promise.all([
    execute(["publint", "run", "--strict", tarball]),
    execute(["attw", "--profile", "esm-only", tarball]),
  ]);
  return judged.filter(({ ok }) => !ok).map(({ output }) => `${manifest.name}:\n${output}`);
}

using workspace = temporaryFolder();
const packages = changedPackages();
const problems = await Promise.all(packages.map((found) => checkPackage(found, workspace.path)));
report(problems.flat(), `packages: ${packages.length} have changed and can be published`);
