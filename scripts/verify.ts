/**
 * Runs the tests of the promises and prints which promises hold.
 *
 *     npm run verify             all of them
 *     npm run verify -- P2 P7    some of them
 *     npm run security           the attack tests: those of the table of docs/security.md
 *
 * The registries are packages/conformance/promises.ts and security.ts. Lines that a test prints with `count:` at their
 * beginning are shown with its promise, so that a reader sees how much was tried.
 */
import { type Reporter, type TestCase, startVitest } from "vitest/node";
import { promises as allPromises } from "../packages/conformance/promises.ts";
import { securityRows } from "../packages/conformance/security.ts";
import { root } from "./workspace.ts";

/** One row of the registry. */
interface Promised {
  readonly id: string;
  readonly promise: string;
  readonly holds: string;
  readonly tests: readonly { readonly file: string; readonly name?: string }[];
}

/** The result of one test. */
interface Evidence {
  readonly file: string;
  /** The test's name, with the names of the suites around it. */
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped" | "pending";
  readonly failures: readonly string[];
  readonly counts: readonly string[];
}

/** Something a test printed. */
type Log = Parameters<NonNullable<Reporter["onUserConsoleLog"]>>[0];

/** Runs whole files, or only the tests in them whose names contain one of `names`. */
async function gather(files: readonly string[], names: readonly string[]): Promise<Evidence[]> {
  if (files.length === 0) return [];
  const logs: Log[] = [];
  const reporter: Reporter = { onUserConsoleLog: (log) => void logs.push(log) };
  const pattern = names.map((name) => RegExp.escape(name)).join("|");
  const vitest = await startVitest("test", [...files], {
    root,
    watch: false,
    reporters: [reporter],
    ...(pattern === "" ? {} : { testNamePattern: new RegExp(pattern) }),
  });
  const evidence = vitest.state.getTestModules().flatMap((module): Evidence[] => {
    const file = module.relativeModuleId;
    const broken = module.errors().map(({ message }) => message);
    const around = { file, name: "(the file itself)", counts: countsOf(logs, module.id) };
    return [
      { ...around, state: broken.length > 0 ? "failed" : "skipped", failures: broken },
      ...[...module.children.allTests()].map((test) => describe(file, test, logs)),
    ];
  });
  await vitest.close();
  return evidence;
}

function describe(file: string, test: TestCase, logs: readonly Log[]): Evidence {
  const { state, errors = [] } = test.result();
  const failures = errors.map(({ message }) => message);
  return { file, name: test.fullName, state, failures, counts: countsOf(logs, test.id) };
}

function countsOf(logs: readonly Log[], taskId: string): string[] {
  return logs
    .filter((log) => log.taskId === taskId)
    .flatMap(({ content }) => content.split("\n"))
    .filter((line) => line.startsWith("count:"));
}

/** Prints the results of one promise and returns whether it holds. */
function judge({ id, promise, tests }: Promised, evidence: readonly Evidence[]): boolean {
  console.log(`${id}  ${promise}`);
  let passed = 0;
  let held = tests.length > 0;
  for (const { file, name = "" } of tests) {
    const ours = evidence.filter((found) => found.file === file && found.name.includes(name));
    const ran = ours.filter(({ state }) => state === "passed" || state === "failed");
    const failed = ours.filter(({ state }) => state === "failed");
    console.log(`  ${file}${name === "" ? "" : ` > ${name}`}: ${ran.length} tests`);
    for (const line of ours.flatMap(({ counts }) => counts)) console.log(`    ${line}`);
    for (const found of failed)
      console.log(`    FAILED ${found.name}: ${found.failures.join("; ")}`);
    if (ran.length === 0) console.log("    FAILED no test of this name ran");
    if (ran.length === 0 || failed.length > 0) held = false;
    passed += ran.length - failed.length;
  }
  console.log(`${id}: ${held ? "held" : "NOT held"}, ${passed} tests\n`);
  return held;
}

/** Runs a whole file if any promise needs all of it; otherwise only the named tests. */
async function verify(chosen: readonly Promised[]): Promise<boolean> {
  const tests = chosen.flatMap((promise) => promise.tests);
  const whole = new Set(tests.filter(({ name }) => name === undefined).map(({ file }) => file));
  const named = tests.filter(({ file }) => !whole.has(file));
  const files = [...new Set(named.map(({ file }) => file))];
  const names = named.flatMap(({ name }) => name ?? []);
  const evidence = [...(await gather([...whole], [])), ...(await gather(files, names))];

  const held = chosen.filter((promise) => judge(promise, evidence));
  console.log(`${held.length} of ${chosen.length} promises held`);
  return held.length === chosen.length;
}

const [first, ...others] = process.argv.slice(2);
const isSecurity = first === "security";
const promises: readonly Promised[] = isSecurity ? attacks() : allPromises;
const wanted = isSecurity || first === undefined ? others : [first, ...others];
const unknown = wanted.filter((id) => !promises.some((promise) => promise.id === id));
const chosen = promises.filter(({ id }) => wanted.length === 0 || wanted.includes(id));

if (unknown.length > 0) {
  console.error(`there is no promise ${unknown.join(", ")}; there are:`);
  for (const { id, promise } of promises) console.error(`  ${id}  ${promise}`);
  process.exitCode = 1;
} else {
  process.exitCode = (await verify(chosen)) ? 0 : 1;
}

/** The rows of the security table that have tests. Those without are named, and count for nothing. */
function attacks(): readonly Promised[] {
  const without = securityRows.filter(({ tests }) => tests.length === 0);
  for (const { promise, about } of without) console.log(`${promise}  ${about}: no test yet\n`);
  return securityRows
    .filter(({ tests }) => tests.length > 0)
    .map(({ promise, about, mechanism, tests }) => ({
      id: `${promise}, ${about}`,
      promise: mechanism,
      holds: about,
      tests: tests.map((file) => ({ file })),
    }));
}
