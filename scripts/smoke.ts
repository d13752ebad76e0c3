/**
 * Installs the packed packages into an empty project, as a user would, imports every public entry on
 * the oldest supported Node line, type-checks programs of users against them, and runs the mistakes of a
 * first day.
 *
 *     node scripts/smoke.ts
 *
 * Needs the built packages.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkPrograms } from "./check-programs.ts";
import { execute } from "./execute.ts";
import { temporaryFolder } from "./temporary.ts";
import { mistakes } from "../tests/first-day/mistakes.ts";
import { problemsOf, runMistake } from "../tests/first-day/run-mistakes.ts";
import { type Tally, inParallel, publicPackages, readManifest, root } from "./workspace.ts";

const oldestNode = "22.23.3";

/** Imports each specifier and fails if one has no export. Prints one line per specifier. */
const program = `
  if (process.version !== "v${oldestNode}") throw new Error("runs on " + process.version);
  for (const specifier of process.argv.slice(2)) {
    const names = await import(specifier).then(Object.keys, (error) => error);
    const ok = Array.isArray(names) && names.length > 0;
    console.log(ok ? "ok" : "FAILED", specifier, ok ? names.length + " names" : names);
  }
`;

/** Runs the smoke test. Needs the built packages. */
export async function smoke(): Promise<Tally> {
  using project = temporaryFolder();
  const packages = publicPackages();
  const specifiers = packages.flatMap(({ manifest }) =>
    Object.entries(manifest.exports ?? {})
      .filter(([, target]) => typeof target !== "string")
      .map(([subpath]) => join(manifest.name, subpath)),
  );
  const folders = packages.map(({ folder }) => join(root, folder));
  const packed = await execute(["npm", "pack", "--silent", ...folders], project.path);
  const tarballs = packed.output.trim().split("\n");
  const dependencies = {
    node: oldestNode,
    // A Node that is too old, to see what it prints. Its package has the program itself and no scripts.
    "node-too-old": `npm:node-linux-${process.arch}@20.20.2`,
    ...forPrograms(),
    // Optional peers are installed too, for the entries that need one.
    ...Object.fromEntries(
      packages.flatMap(({ manifest }) => Object.entries(manifest.peerDependencies ?? {})),
    ),
    ...Object.fromEntries(packages.map(({ manifest }, at) => [manifest.name, `./${tarballs[at]}`])),
  };
  const manifest = { private: true, type: "module", allowScripts: { node: true }, dependencies };
  writeFileSync(join(project.path, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(project.path, "program.js"), program);

  const installed = await execute(["npm", "install", "--no-audit", "--no-fund"], project.path);
  const node = join(project.path, "node_modules/.bin/node");
  const ran = await execute([node, "program.js", ...specifiers], project.path);

  const imported = ran.output.split("\n").filter((line) => line.startsWith("ok ")).length;
  console.log(installed.ok ? ran.output : `${packed.output}\n${installed.output}`);
  const { passed, failed } = await checkPrograms(project.path);
  const stumbled = await checkMistakes(project.path, node);
  return {
    passed: imported + passed + stumbled.passed,
    failed: specifiers.length - imported + failed + stumbled.failed,
  };
}

/** Runs the programs of `tests/first-day` with the installed packages. */
async function checkMistakes(folder: string, node: string): Promise<Tally> {
  const old = join(folder, "node_modules/node-too-old/bin/node");
  const outcomes = await inParallel(mistakes, async (mistake) => {
    const ran = await runMistake(mistake, {
      folder,
      node: [mistake.oldNode === true ? old : node],
    });
    const problems = problemsOf(mistake, ran);
    if (problems.length > 0) console.log(`FAILED ${mistake.name}\n${problems.join("\n")}`);
    return problems.length === 0;
  });
  const passed = outcomes.filter(Boolean).length;
  console.log(`count: mistakes of a first day, ${passed}, ${outcomes.length - passed} failures`);
  return { passed, failed: outcomes.length - passed };
}

/** What the programs import besides our packages, in the versions that this repository has. */
function forPrograms(): Readonly<Record<string, string>> {
  const { devDependencies = {} } = readManifest(join(root, "package.json"));
  return Object.fromEntries(
    ["@types/node", "@types/react", "ai", "zod"].map((name) => [
      name,
      devDependencies[name] ?? "*",
    ]),
  );
}

if (import.meta.main) {
  const { passed, failed } = await smoke();
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
