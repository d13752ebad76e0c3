/**
 * Plants each defect of tests/planted into a copy of the repository, and expects the test that it
 * names to fail: a test that stays green would not notice the defect if somebody made it. Nothing is
 * changed in the repository itself.
 *
 *     npm run planted                   all defects
 *     npm run planted -- 07- lock       those with one of the words in their name
 *     npm run planted -- lines          single lines of source, broken: see broken-lines.ts
 *
 * A file has the defects of one package, each behind a line `=== <number>-<name>`. A defect begins
 * with comment lines: what is wrong, in plain words, and `# caught by: <test file>`, optionally
 * followed by ` -t ` and the test's name, or a part of it. Each of several such lines is a test that
 * must notice it alone, such as those of two stores that share the broken code. A patch follows.
 */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { testBrokenLines } from "./broken-lines.ts";
import { execute } from "./execute.ts";
import { splitPatches } from "./planted-patches.ts";
import { copyTree, firstLine, runTests } from "./scratch-copy.ts";
import type { TestReport, TestResult } from "./scratch-copy.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

/** One deliberate defect, and one test that must notice it. */
interface Defect {
  readonly name: string;
  readonly path: string;
  /** What is wrong. */
  readonly what: string;
  /** The packages that it is in. */
  readonly packages: readonly string[];
  /** The test file that must notice it, and part of the test's name if not all of them count. */
  readonly file: string;
  readonly test: string | undefined;
}

/** What became of a defect; `problem` is left out if it was caught. */
interface Finding {
  readonly defect: Defect;
  readonly seconds: number;
  /** How the test said it, in its first line. */
  readonly said?: string;
  readonly problem?: string;
}

/** Copies that are tested at once. More would fight for the cores of a small machine. */
const copies = 2;
/** For the test of one defect. A named test takes a second or two; a busy machine gets more. */
const limitMs = 240_000;
/** For the tests of all defects, which are run once without any. */
const greenLimitMs = 1_200_000;

function readDefects(path: string): readonly Defect[] {
  const name = basename(path, ".patch");
  const lines = readFileSync(path, "utf8").split("\n");
  const comments = lines.filter((line) => line.startsWith("# ")).map((line) => line.slice(2));
  const mark = "caught by: ";
  const tests = comments.filter((line) => line.startsWith(mark));
  const what = comments.filter((line) => !line.startsWith(mark)).join(" ");
  if (tests.length === 0 || what === "") {
    throw new Error(`${name} does not say what is wrong and which test catches it`);
  }
  const packages = lines.flatMap((line) => /^\+\+\+ b\/(packages\/[^/]+)\//.exec(line)?.[1] ?? []);
  return tests.map((line) => {
    const [file = "", test] = line.slice(mark.length).split(" -t ");
    const found = { file: file.trim(), test: test?.trim() };
    return { name, path, what, packages: [...new Set(packages)], ...found };
  });
}

/** Compiles packages of a copy. A patch with a mistake in it would make tests fail for no good reason. */
async function compile(copy: string, packages: readonly string[]): Promise<string | undefined> {
  const compiler = join(root, "node_modules/tsc7/bin/tsc");
  const { ok, output } = await execute(["node", compiler, "-b", ...packages], copy);
  return ok ? undefined : `the patched code does not compile: ${firstLine(output)}`;
}

/** Runs the tests that defects name. All of them name a test, or all of them a whole file. */
async function runNamed(
  copy: string,
  defects: readonly Defect[],
  limit: number,
): ReturnType<typeof runTests> {
  const files = defects.map(({ file }) => file);
  const names = [...new Set(defects.flatMap(({ test }) => test ?? []))];
  return await runTests(copy, {
    files,
    names: names.length > 0 ? names : undefined,
    limitMs: limit,
  });
}

/** The results of the test that a defect names. */
function resultsOf(report: TestReport, { file, test }: Defect): readonly TestResult[] {
  return report.testResults
    .filter(({ name }) => name.endsWith(`/${file}`))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(
      ({ fullName, status }) =>
        status !== "pending" && status !== "skipped" && fullName.includes(test ?? ""),
    );
}

/** What is wrong with the named test before anything is planted. */
function checkGreen(report: TestReport, defect: Defect): string | undefined {
  const results = resultsOf(report, defect);
  if (results.length === 0) return `there is no such test: ${defect.file} -t ${defect.test ?? ""}`;
  const red = results.find(({ status }) => status !== "passed");
  return red === undefined ? undefined : `red without any defect: ${red.fullName}`;
}

/** Whether the named test failed, and because of what it found. */
function judge(report: TestReport, defect: Defect): Pick<Finding, "said" | "problem"> {
  const results = resultsOf(report, defect);
  if (results.length === 0) {
    const why = report.testResults.map(({ message }) => firstLine(message)).join("; ");
    return { problem: `no test ran, the patched code does not load: ${why}` };
  }
  const messages = results
    .filter(({ status }) => status === "failed")
    .flatMap(({ failureMessages = [] }) => failureMessages.map(firstLine));
  if (messages.length === 0) return { problem: "NOT CAUGHT: the test stays green" };
  // A name that is not there is a fault of the patch, and a time limit may be the machine's.
  const said = messages.find((line) => !/^(ReferenceError|SyntaxError)\b|timed out in/.test(line));
  return said === undefined ? { problem: `red for another reason: ${messages[0]}` } : { said };
}

/** Plants one defect, runs its test, and takes the defect out again. */
async function plant(copy: string, defect: Defect): Promise<Finding> {
  const start = performance.now();
  const seconds = (): number => (performance.now() - start) / 1_000;
  const apply = (...options: string[]): ReturnType<typeof execute> =>
    execute(["git", "apply", "--whitespace=nowarn", ...options, defect.path], copy);
  const fits = await apply("--check");
  if (!fits.ok) {
    const problem = `the patch no longer applies: ${firstLine(fits.output)}`;
    return { defect, seconds: seconds(), problem };
  }
  await apply();
  const broken = await compile(copy, defect.packages);
  const report = broken === undefined ? await runNamed(copy, [defect], limitMs) : { crash: broken };
  const reverted = await apply("--reverse");
  if (!reverted.ok) throw new Error(`${defect.name} can't be taken out again: ${reverted.output}`);
  const judged = "crash" in report ? { problem: report.crash } : judge(report, defect);
  return { defect, seconds: seconds(), ...judged };
}

function print({ defect, seconds, said, problem }: Finding): void {
  const state = problem === undefined ? "caught" : "FAILED";
  console.log(`${state} ${seconds.toFixed(1).padStart(6)} s  ${defect.name}: ${defect.what}`);
  console.log(`                 ${defect.file}: ${problem ?? said ?? ""}`);
}

async function main(words: readonly string[]): Promise<number> {
  using temporary = temporaryFolder();
  const defects = splitPatches(temporary.path)
    .flatMap(readDefects)
    .filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  // A repository around the folder would make git apply look for the paths in there.
  process.env["GIT_CEILING_DIRECTORIES"] = temporary.path;
  const places = Array.from({ length: copies }, (_, at) => join(temporary.path, `copy${at}`));
  for (const place of places) await copyTree(place);

  const findings: Finding[] = [];
  const sound: Defect[] = [];
  const byName = Map.groupBy(defects, ({ test }) => test !== undefined);
  for (const group of byName.values()) {
    const report = await runNamed(places[0] ?? "", group, greenLimitMs);
    for (const defect of group) {
      const problem = "crash" in report ? report.crash : checkGreen(report, defect);
      if (problem === undefined) sound.push(defect);
      else findings.push({ defect, seconds: 0, problem });
    }
  }
  findings.forEach(print);
  console.log(
    `${sound.length} of ${defects.length} defects name tests that are green without them\n`,
  );

  const queue = sound.values();
  const work = async (copy: string): Promise<void> => {
    for (const defect of queue) {
      const finding = await plant(copy, defect);
      print(finding);
      findings.push(finding);
    }
  };
  await Promise.all(places.map(work));
  const failed = findings.filter(({ problem }) => problem !== undefined).length;
  console.log(`\n${findings.length - failed} defects caught, ${failed} not`);
  return defects.length === 0 ? 1 : failed;
}

const [first, ...more] = process.argv.slice(2);
const failed = first === "lines" ? await testBrokenLines(more) : await main(process.argv.slice(2));
process.exitCode = failed === 0 ? 0 : 1;
