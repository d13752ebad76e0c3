/**
 * Plants each defect of tests/planted into a copy of the repository, and expects the test that it
 * names to fail: a test that passes would not detect the defect in a real change. Nothing is
 * changed in the repository itself.
 *
 *     npm run planted                   all defects
 *     npm run planted -- 07 lock        those with one of the words in their file's name
 *
 * A patch begins with comment lines: a description of the defect, and `# caught by: <test file>`,
 * optionally followed by ` -t ` and the test's name, or a part of it. Each of several such lines is
 * a test that must detect it alone, such as those of two stores that share the broken code.
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { temporaryFolder } from "./temporary.ts";
import { execute, root } from "./workspace.ts";

/** One deliberate defect, and one test that must detect it. */
interface Defect {
  readonly name: string;
  readonly path: string;
  /** What is wrong. */
  readonly what: string;
  /** The packages that it changes. */
  readonly packages: readonly string[];
  /** The test file that must detect it, and part of the test's name if not all tests count. */
  readonly file: string;
  readonly test: string | undefined;
}

/** The result of a defect; `problem` is undefined if it was detected. */
interface Finding {
  readonly defect: Defect;
  readonly seconds: number;
  /** The first line of the failed assertion. */
  readonly said?: string;
  readonly problem?: string;
}

/** The fields of vitest's JSON report that are read here. */
interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly TestResult[];
  }[];
}

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}

const folder = join(root, "tests/planted");
/**
 * The number of copies that are tested at once. More would compete for the cores of a small
 * machine.
 */
const copies = 2;
/**
 * The time limit of one test run. A named test takes a second or two; a busy machine gets more.
 */
const limitMs = 240_000;

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

/** Copies the working tree without ignored files, so that patches can't change it. */
async function copyTree(to: string): Promise<void> {
  const listed = await execute(["git", "ls-files", "-co", "--exclude-standard", "-z"]);
  if (!listed.ok) throw new Error(`the files can't be listed: ${listed.output}`);
  for (const file of listed.output.split("\0")) {
    const from = join(root, file);
    // The list includes deleted files that are not committed, and links to folders.
    if (statSync(from, { throwIfNoEntry: false })?.isFile() !== true) continue;
    mkdirSync(dirname(join(to, file)), { recursive: true });
    copyFileSync(from, join(to, file));
  }
  linkModules(root, to);
  for (const place of globSync("{packages,apps,examples}/*/node_modules", { cwd: root })) {
    if (existsSync(join(to, dirname(place)))) symlinkSync(join(root, place), join(to, place));
  }
}

/**
 * Links each dependency, but the repository's packages to those of the copy: through a link to the
 * whole folder the tests would import the original packages, and no defect would take effect.
 */
function linkModules(from: string, to: string, place = "node_modules"): void {
  mkdirSync(join(to, place), { recursive: true });
  for (const name of readdirSync(join(from, place))) {
    const path = join(place, name);
    if (name === ".vite" || name === ".vitest" || name === ".cache") continue; // each copy has its own
    if (name.startsWith("@")) {
      linkModules(from, to, path);
      continue;
    }
    const real = lstatSync(join(from, path)).isSymbolicLink()
      ? ownFolder(join(from, path))
      : undefined;
    symlinkSync(real === undefined ? join(from, path) : join(to, real), join(to, path));
  }
}

/** The folder that a link leads to, if it is one of the repository's packages. */
function ownFolder(link: string): string | undefined {
  if (!existsSync(link)) return undefined; // a link of a removed package
  const real = relative(root, realpathSync(link));
  return real.startsWith("..") || real.startsWith("node_modules") ? undefined : real;
}

/**
 * Compiles packages of a copy. A patch that does not compile would make tests fail for the wrong
 * reason.
 */
async function compile(copy: string, packages: readonly string[]): Promise<string | undefined> {
  const compiler = join(root, "node_modules/tsc7/bin/tsc");
  const { ok, output } = await execute(["node", compiler, "-b", ...packages], copy);
  return ok ? undefined : `the patched code does not compile: ${firstLine(output)}`;
}

/** Runs tests in a copy. Returns the report, or the problem of the run itself. */
async function runTests(
  copy: string,
  defects: readonly Defect[],
): Promise<TestReport | { readonly crash: string }> {
  const output = join(copy, "planted.json");
  rmSync(output, { force: true });
  const files = [...new Set(defects.map(({ file }) => file))];
  const names = defects.every(({ test }) => test !== undefined)
    ? ["-t", [...new Set(defects.map(({ test = "" }) => RegExp.escape(test)))].join("|")]
    : [];
  const parameters = ["run", "--project", "tests", "--root", copy, ...files, ...names];
  const reporter = ["--reporter=json", `--outputFile=${output}`];
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const ended = await runLimited([vitest, ...parameters, ...reporter], copy);
  if (ended.late) return { crash: "it ran out of time" };
  if (!existsSync(output)) return { crash: `the runner gave no report: ${firstLine(ended.said)}` };
  return JSON.parse(readFileSync(output, "utf8")) as TestReport;
}

/**
 * Runs Node, and kills it with all its workers after the time limit. A process in an endless loop
 * handles no other signal.
 */
function runLimited(
  parameters: readonly string[],
  cwd: string,
): Promise<{ readonly late: boolean; readonly said: string }> {
  return new Promise((settle, fail) => {
    const env = { ...process.env, NO_COLOR: "1" };
    const child = spawn(process.execPath, parameters, { cwd, env, detached: true });
    let said = "";
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, limitMs);
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.on("error", fail);
    child.on("close", () => {
      clearTimeout(timer);
      settle({ late, said });
    });
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

/** The problem of the named test before anything is planted. */
function checkGreen(report: TestReport, defect: Defect): string | undefined {
  const results = resultsOf(report, defect);
  if (results.length === 0) return `there is no such test: ${defect.file} -t ${defect.test ?? ""}`;
  const red = results.find(({ status }) => status !== "passed");
  return red === undefined ? undefined : `red without any defect: ${red.fullName}`;
}

/** Decides whether the named test failed by an assertion. */
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
  // An unknown name is a fault of the patch, and a timeout may be the machine's.
  const said = messages.find((line) => !/^(ReferenceError|SyntaxError)\b|timed out in/.test(line));
  return said === undefined ? { problem: `red for another reason: ${messages[0]}` } : { said };
}

function firstLine(text: string): string {
  return (text.split("\n").find((line) => line.trim() !== "") ?? "").trim().slice(0, 160);
}

/** Plants one defect, runs its test, and removes the defect. */
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
  const report = broken === undefined ? await runTests(copy, [defect]) : { crash: broken };
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
  const defects = globSync("*.patch", { cwd: folder })
    .toSorted()
    .flatMap((file) => readDefects(join(folder, file)))
    .filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  using temporary = temporaryFolder();
  // With a repository around the folder, git apply would resolve the paths in that repository.
  process.env["GIT_CEILING_DIRECTORIES"] = temporary.path;
  const places = Array.from({ length: copies }, (_, at) => join(temporary.path, `copy${at}`));
  for (const place of places) await copyTree(place);

  const report = await runTests(places[0] ?? "", defects);
  const findings: Finding[] = [];
  const sound: Defect[] = [];
  for (const defect of defects) {
    const problem = "crash" in report ? report.crash : checkGreen(report, defect);
    if (problem === undefined) sound.push(defect);
    else findings.push({ defect, seconds: 0, problem });
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

process.exitCode = (await main(process.argv.slice(2))) === 0 ? 0 : 1;
