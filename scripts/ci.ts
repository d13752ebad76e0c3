/**
 * Runs everything that a change must pass, in order, with the seconds of each stage. Continues
 * after a failure, so that one run shows all of them. The last line is `N passed, N failed`: every
 * test, every example and every packed entry counts, and the other stages count one each.
 *
 *     .ci/run           on a fresh checkout
 *     npm run ci        when the dependencies are installed
 *     npm run ci -- unit build
 *                       these stages
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { execute } from "./execute.ts";
import { smoke } from "./smoke.ts";
import { temporaryFolder } from "./temporary.ts";
import { type Tally, readManifest, root } from "./workspace.ts";

type Stage = () => Tally | Promise<Tally>;

const failures: string[] = [];

const stages: Readonly<Record<string, Stage>> = {
  check: () => count(npm("run", "check")),
  unit: () => runTests("unit"),
  integration: () => runTests("integration"),
  browser: () => runTests("browser"),
  "temporal server": buildTemporal,
  "tests with Temporal": () => runTests("temporal"),
  "timed tests": () => runTests("timed"),
  build: () => count(npm("run", "build")),
  examples: runExamples,
  differential: () => count(npm("run", "differential")),
  "latency beside useChat": latency,
  "planted defects": () => count(npm("run", "planted")),
  "request types": () => count(npm("run", "request-types")),
  "broken lines": () => count(npm("run", "planted", "--", "lines")),
  "packed packages on an older Node": smoke,
  "the client in Node, Bun and Deno": runtimes,
};

/**
 * Waits for the build of the Temporal server that .ci/run has started, or builds it. It goes on beside
 * the tests before it, and is over before times are measured. After a failure the tests that need the
 * server fail too.
 */
async function buildTemporal(): Promise<Tally> {
  const command = ["npm", "run", "--silent", "services", "--", "install", "temporal"] as const;
  const { ok, output } = await execute(command);
  console.log(output.trimEnd());
  if (!ok) failures.push(`temporal server: ${output.trimEnd().slice(-2000)}`);
  return count(ok);
}

/** Runs the tests of one project of `vitest.config.ts`. */
function runTests(project: string): Tally {
  using folder = temporaryFolder();
  const file = join(folder.path, "tests.json");
  const unhandled = join(folder.path, "unhandled.json");
  process.env["UNHANDLED_ERRORS"] = unhandled;
  const ok = npm(
    "test",
    "--",
    `--project=${project}`,
    "--reporter=default",
    "--reporter=json",
    "--reporter=./scripts/unhandled-reporter.ts",
    `--outputFile.json=${file}`,
  );
  if (!existsSync(file)) return count(false);
  const result = JSON.parse(readFileSync(file, "utf8")) as VitestResult;
  const { numPassedTests: passed, numFailedTests: failed } = result;
  failures.push(...failedTests(result));
  if (existsSync(unhandled)) {
    const errors = JSON.parse(readFileSync(unhandled, "utf8")) as readonly string[];
    failures.push(...errors.map((error) => `${project}, by no test: ${shorten(error)}`));
  }
  return { passed, failed: ok ? failed : Math.max(failed, 1) }; // an error may come outside of tests
}

interface VitestResult {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/**
 * The failed tests with their messages, printed again at the end: often only the end of a long log
 * is kept.
 */
function failedTests({ testResults }: VitestResult): string[] {
  return testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, message, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === "failed");
      const reasons =
        failed.length === 0
          ? [message]
          : failed.map((test) => `${test.fullName}\n${test.failureMessages?.join("\n") ?? ""}`);
      return reasons.map((reason) => `${relative(root, name)}: ${shorten(reason)}`);
    });
}

function shorten(reason: string): string {
  return reason.split("\n").slice(0, 12).join("\n    ").slice(0, 2000);
}

/** A short one: its peers are installed by the stage before, and only what is far off is noticed. */
function latency(): Tally {
  const program = "differential/latency/main.ts";
  const options = ["--seconds", "6", "--at-most", "3"];
  const command = ["--conditions=@millrace/source", program, ...options];
  return count(spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" }).status === 0);
}

/** Imported late: it needs the built packages. */
async function runtimes(): Promise<Tally> {
  const { checkRuntimes } = await import("../tests/runtimes/main.ts");
  return await checkRuntimes();
}

/** Runs the `test` script of every example, or else its `start` script. */
function runExamples(): Tally {
  const results = globSync("examples/*/package.json", { cwd: root })
    .toSorted()
    .flatMap((path) => {
      const { scripts = {} } = readManifest(join(root, path));
      const name = ["test", "start"].find((candidate) => candidate in scripts);
      return name === undefined ? [] : [count(npm("run", name, "--workspace", dirname(path)))];
    });
  return sum(results);
}

/** The stages with these names, or all. Throws if there is none of a name: nothing would run. */
function chosenStages(names: readonly string[]): readonly (readonly [string, Stage])[] {
  const unknown = names.filter((name) => !(name in stages));
  if (unknown.length > 0) {
    throw new Error(`no stage ${unknown.join()}: there are ${Object.keys(stages).join(", ")}`);
  }
  return Object.entries(stages).filter(([name]) => names.length === 0 || names.includes(name));
}

/** Runs a stage. If it throws it has failed, and the next ones still run. */
async function run(stage: Stage): Promise<Tally> {
  try {
    return await stage();
  } catch (error) {
    console.error(error);
    return count(false);
  }
}

function npm(...parameters: string[]): boolean {
  return spawnSync("npm", parameters, { cwd: root, stdio: "inherit" }).status === 0;
}

function count(ok: boolean): Tally {
  return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

function sum(tallies: readonly Tally[]): Tally {
  return {
    passed: tallies.reduce((total, { passed }) => total + passed, 0),
    failed: tallies.reduce((total, { failed }) => total + failed, 0),
  };
}

const tallies: Tally[] = [];
const lines: string[] = [];
for (const [name, stage] of chosenStages(process.argv.slice(2))) {
  console.log(`\n== ${name}`);
  const start = performance.now();
  const tally = await run(stage);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  lines.push(`${name}: ${seconds} s, ${tally.passed} passed, ${tally.failed} failed`);
  tallies.push(tally);
}

const { passed, failed } = sum(tallies);
for (const failure of failures) console.log(`\nfailed: ${failure}`);
console.log(`\n${lines.join("\n")}\n\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
