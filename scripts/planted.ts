/**
 * Plants each defect of tests/planted into a copy of the repository, and expects the test that it
 * names to fail: a test that stays green would not notice the defect if somebody made it. Nothing is
 * changed in the repository itself.
 *
 *     npm run planted                   all defects
 *     npm run planted -- 07 lock        those with one of the words in their file's name
 *
 * A patch begins with comment lines: what is wrong, in plain words, and `# caught by: <test file>`,
 * optionally followed by ` -t ` and the test's name, or a part of it. Each of several such lines is
 * a test that must notice it alone, such as those of two stores that share the broken code.
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
/** Copies that are tested at once. More would fight for the cores of a small machine. */
const copies = 2;
/** For one run of the named tests. A named test takes a second or two; a busy machine gets more. */
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

/** Copies the working tree as it is, without what git ignores, so that patches can't harm it. */
async function copyTree(to: string): Promise<void> {
  const listed = await execute(["git", "ls-files", "-co", "--exclude-standard", "-z"]);
  if (!listed.ok) throw new Error(`the files can't be listed: ${listed.output}`);
  for (const file of listed.output.split("\0")) {
    const from = join(root, file);
    // What was deleted and not committed so far is listed too, and so is a link to a folder.
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
 * Links each dependency, but our own packages to the copy's: through a link to the whole folder the
 * tests would import the packages of the repository, and no defect in them would be seen.
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

/** Where in the repository a link leads, if it is to one of our packages and not into a dependency. */
function ownFolder(link: string): string | undefined {
  if (!existsSync(link)) return undefined; // of a package that is gone
  const real = relative(root, realpathSync(link));
  return real.startsWith("..") || real.startsWith("node_modules") ? undefined : real;
}

/** Compiles packages of a copy. A patch with a mistake in it would make tests fail for no good reason. */
async function compile(copy: string, packages: readonly string[]): Promise<string | undefined> {
  const compiler = join(root, "node_modules/tsc7/bin/tsc");
  const { ok, output } = await execute(["node", compiler, "-b", ...packages], copy);
  return ok ? undefined : `the patched code does not compile: ${firstLine(output)}`;
}

/** Runs tests in a copy. Gives the report, or what went wrong with the run itself. */
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

/** Runs Node, and ends it with all its workers when its time is up: one that spins hears nothing else. */
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

function firstLine(text: string): string {
  return (text.split("\n").find((line) => line.trim() !== "") ?? "").trim().slice(0, 160);
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
  // A repository around the folder would make git apply look for the paths in there.
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
