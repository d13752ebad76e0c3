/**
 * Runs every check of the repository but the tests: one line per check with its seconds, and what
 * it printed if it failed.
 *
 *     npm run check
 */
import { type Outcome, execute } from "./execute.ts";
import { inParallel } from "./workspace.ts";

/** One check. It passes if its command exits with zero. */
interface Check {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** True if it reads dist, so that it is skipped after a failed build. */
  readonly needsBuild?: boolean;
  /** Whether what it printed is shown also when it passed: a table that people want to see. */
  readonly prints?: boolean;
}

const build: Check = { name: "build and types", command: ["npm", "run", "build"] };

const checks: readonly Check[] = [
  { name: "packages", command: script("check-packages"), needsBuild: true },
  { name: "api reports", command: script("api-report", "--check"), needsBuild: true, prints: true },
  { name: "entries", command: script("check-entries"), needsBuild: true, prints: true },
  { name: "lint", command: ["oxlint", "--format=unix"] },
  { name: "unused code", command: ["knip"] },
  {
    name: "workflow",
    command: ["node", "--conditions=@millrace/source", "scripts/check-workflow.ts"],
    needsBuild: true,
  },
  { name: "size", command: script("size"), needsBuild: true },
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "layers", command: script("check-layers") },
  { name: "manifests", command: script("check-manifests") },
  { name: "readme", command: script("check-readme") },
  { name: "tables", command: script("check-tables") },
  { name: "paths", command: script("check-paths") },
  {
    name: "provider tables",
    command: ["node", "--conditions=@millrace/source", "scripts/provider-tables.ts"],
  },
  { name: "planted defects", command: script("check-planted"), prints: true },
  { name: "prose", command: script("check-prose") },
  {
    name: "openapi",
    command: ["node", "--conditions=@millrace/source", "scripts/openapi.ts", "--check"],
  },
];

function script(name: string, ...parameters: string[]): readonly [string, ...string[]] {
  return ["node", `scripts/${name}.ts`, ...parameters];
}

/** Runs one check, prints its line, and returns whether it passed. */
async function run({ name, command, prints = false }: Check): Promise<boolean> {
  const start = performance.now();
  const { ok, output }: Outcome = await execute(command);
  const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
  console.log(`${ok ? "ok    " : "FAILED"} ${seconds} s  ${name}`);
  if (!ok) console.log(`\n$ ${command.join(" ")}\n${output}`);
  else if (prints) console.log(output.trimEnd());
  return ok;
}

const start = performance.now();
const isBuilt = await run(build);
const possible = checks.filter(({ needsBuild }) => isBuilt || needsBuild !== true);
for (const { name } of checks) {
  if (!possible.some((check) => check.name === name)) console.log(`skipped         ${name}`);
}
const passed = await inParallel(possible, run);

const failed = [isBuilt, ...passed].filter((ok) => !ok).length;
const seconds = ((performance.now() - start) / 1000).toFixed(1);
console.log(`${failed === 0 ? "all checks passed" : `${failed} checks failed`} in ${seconds} s`);
process.exitCode = failed === 0 ? 0 : 1;
