/**
 * Runs the stages of a tier in order, with the seconds of each. Continues after a failure, so that one
 * run shows all of them. The last line is `N passed, N failed`: every test, every example and every
 * packed entry counts, and the other stages count one each.
 *
 *     .ci/run                the change tier on a fresh checkout
 *     npm run ci             the change tier when the dependencies are installed: what a change must pass
 *     npm run nightly        the nightly tier: random tests in full size, measurements, and tests of the
 *                            tests. Adds a line to docs/campaigns.md
 *     npm run ci -- unit build
 *                            these stages
 *     npm run nightly -- unit local integration browser
 *                            a night in pieces: each adds its line
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { execute } from "./execute.ts";
import { smoke } from "./smoke.ts";
import { TestStages } from "./test-stage.ts";
import { type Tally, readManifest, root } from "./workspace.ts";

type Tier = "change" | "nightly";

interface Stage {
  readonly name: string;
  /** Left out: in both tiers. */
  readonly only?: Tier;
  readonly run: () => Tally | Promise<Tally>;
}

const ledger = join(root, "docs/campaigns.md");

const { tier, names } = readParameters(process.argv.slice(2));
const nightly = tier === "nightly";
const tests = new TestStages();
const failures: string[] = tests.failures;

/** Measurements that take seconds, and small versions of what is long at night. */
const timedInChange = ["packages/", "tests/chaos/", "tests/kills/"];

const stages: readonly Stage[] = [
  { name: "check", only: "change", run: () => count(npm("run", "check")) },
  { name: "unit", run: () => tests.run({ project: "unit", nightly }) },
  { name: "local", run: () => tests.run({ project: "local", nightly }) },
  { name: "integration", run: () => tests.run({ project: "integration", nightly }) },
  { name: "browser", run: () => tests.run({ project: "browser", nightly }) },
  { name: "temporal server", run: buildTemporal },
  { name: "tests with Temporal", run: () => tests.run({ project: "temporal", nightly }) },
  {
    name: "timed tests",
    run: () => tests.run({ project: "timed", words: nightly ? [] : timedInChange, nightly }),
  },
  { name: "build", run: () => count(npm("run", "build")) },
  { name: "examples", only: "change", run: runExamples },
  { name: "packed packages on an older Node", only: "change", run: smoke },
  { name: "differential", only: "nightly", run: () => count(npm("run", "differential")) },
  { name: "latency beside useChat", only: "nightly", run: latency },
  { name: "request types", only: "nightly", run: () => count(npm("run", "request-types")) },
  { name: "the client in Node, Bun and Deno", only: "nightly", run: runtimes },
  { name: "planted defects", only: "nightly", run: () => count(npm("run", "planted")) },
  { name: "broken lines", only: "nightly", run: brokenLines },
];

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

/** A short one: its peers are installed by the stage before, and only what is far off is noticed. */
function latency(): Tally {
  const program = "differential/latency/main.ts";
  const options = ["--seconds", "6", "--at-most", "3"];
  const command = ["--conditions=@millrace/source", program, ...options];
  return count(spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" }).status === 0);
}

/** All of them: by default a run has the lines of the day. */
function brokenLines(): Tally {
  const env = { ...process.env, CAMPAIGN: "1" };
  const command = ["run", "planted", "--", "lines"];
  return count(spawnSync("npm", command, { cwd: root, stdio: "inherit", env }).status === 0);
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

function readParameters(parameters: readonly string[]): { tier: Tier; names: readonly string[] } {
  const isNightly = parameters[0] === "--nightly";
  return {
    tier: isNightly ? "nightly" : "change",
    names: parameters.slice(isNightly ? 1 : 0),
  };
}

/** The stages of the tier, or those with these names. Throws if it has none of a name: nothing would run. */
function chosenStages(): readonly Stage[] {
  const all = stages.filter(({ only }) => only === undefined || only === tier);
  const unknown = names.filter((name) => !all.some((stage) => stage.name === name));
  if (unknown.length > 0) {
    const known = all.map(({ name }) => name).join(", ");
    throw new Error(`no stage ${unknown.join()}: there are ${known}`);
  }
  return all.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** Runs a stage. If it throws it has failed, and the next ones still run. */
async function run(stage: Stage): Promise<Tally> {
  try {
    return await stage.run();
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

/** The ledger's table of nightly runs is the end of its file. */
async function noteInLedger({ passed, failed }: Tally, minutes: number): Promise<void> {
  const { output } = await execute(["git", "rev-parse", "--short", "HEAD"]);
  const date = new Date().toISOString().slice(0, 10);
  const ran = names.length === 0 ? "all" : names.join(", ");
  const cells = [date, output.trim(), ran, passed, failed, Math.round(minutes)];
  appendFileSync(ledger, `| ${cells.map((cell) => cell.toLocaleString("en")).join(" | ")} |\n`);
}

const begin = performance.now();
const tallies: Tally[] = [];
const lines: string[] = [];
for (const stage of chosenStages()) {
  console.log(`\n== ${stage.name}`);
  const start = performance.now();
  const tally = await run(stage);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  lines.push(`${stage.name}: ${seconds} s, ${tally.passed} passed, ${tally.failed} failed`);
  tallies.push(tally);
}

const total = sum(tallies);
if (nightly) await noteInLedger(total, (performance.now() - begin) / 60_000);
for (const failure of failures) console.log(`\nfailed: ${failure}`);
const slowest = tests.slowest(30);
if (slowest.length > 0) console.log(`\nthe slowest test files:\n${slowest.join("\n")}`);
console.log(`\n${lines.join("\n")}\n\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
