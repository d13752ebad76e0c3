/**
 * Type-checks the programs of tests/surface/programs as a user's compiler would: against installed
 * packages, with each TypeScript that we support, by each way of finding modules, with strict flags and with
 * `strict` alone. Our declarations are checked too, but for the one program whose own dependency does not compile.
 */
import { cpSync, globSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Outcome, execute } from "./execute.ts";
import { type Tally, inParallel, root } from "./workspace.ts";

/** The compilers, by the folder below node_modules. */
const compilers: Readonly<Record<string, string>> = {
  "TypeScript 5.9": "tsc5",
  "TypeScript 6": "typescript",
  "TypeScript 7": "tsc7",
};

const resolutions = {
  nodenext: { module: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
};

const unchecked = { skipLibCheck: true };

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  jsx: "react-jsx",
  target: "es2024",
  lib: ["es2024", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
  types: ["node"],
};

/** Most projects have `strict` alone. Optional fields have other types then. */
const plain = {
  exactOptionalPropertyTypes: false,
  noPropertyAccessFromIndexSignature: false,
  noUncheckedIndexedAccess: false,
};

/** The AI SDK's declarations fail under `exactOptionalPropertyTypes`, so libraries are not checked with it. */
const withLooseLibraries = ["06-agent-you-have.ts"];

interface Check {
  readonly name: string;
  readonly compiler: string;
  readonly config: string;
}

/** Checks the programs in a folder that has the packages, and what they import, installed. */
export async function checkPrograms(project: string): Promise<Tally> {
  cpSync(join(root, "tests/surface/programs"), join(project, "programs"), { recursive: true });
  const programs = globSync("programs/*.{ts,tsx}", { cwd: project }).toSorted();
  const loose = programs.filter((file) => withLooseLibraries.includes(basename(file)));
  const others = programs.filter((file) => !loose.includes(file));
  const configs = [
    writeConfig(project, "nodenext", others, resolutions.nodenext),
    // Checking libraries takes most of the time, and finds the same by either way of finding modules.
    writeConfig(project, "nodenext-loose", loose, { ...resolutions.nodenext, ...unchecked }),
    writeConfig(project, "bundler", programs, { ...resolutions.bundler, ...unchecked }),
    writeConfig(project, "plain", programs, { ...resolutions.bundler, ...unchecked, ...plain }),
  ];
  const checks = Object.entries(compilers).flatMap(([compiler, folder]) =>
    configs.map((config): Check => ({ name: `${compiler}, ${config}`, compiler: folder, config })),
  );
  const start = performance.now();
  const outcomes = await inParallel(checks, ({ compiler, config }) =>
    execute(["node", join(root, "node_modules", compiler, "bin/tsc"), "-p", config], project),
  );
  checks.forEach(({ name }, at) => print(name, outcomes[at]));
  const passed = outcomes.filter(({ ok }) => ok).length;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`count: programs compiled by every compiler, ${programs.length}, in ${seconds} s`);
  return { passed, failed: outcomes.length - passed };
}

/** Writes a configuration and returns the name of its file. */
function writeConfig(
  project: string,
  name: string,
  files: readonly string[],
  options: object,
): string {
  const file = `tsconfig.${name}.json`;
  const config = { compilerOptions: { ...strict, ...options }, files };
  writeFileSync(join(project, file), JSON.stringify(config));
  return file;
}

function print(name: string, outcome: Outcome | undefined): void {
  console.log(outcome?.ok === true ? `ok ${name}` : `FAILED ${name}\n${outcome?.output ?? ""}`);
}
