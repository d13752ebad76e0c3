/**
 * Plants each defect of tests/planted into a copy of the repository, and expects the test that it
 * names to fail: a test that stays green would not notice the defect if somebody made it. Nothing is
 * changed in the repository itself. `planted-defects.ts` says how defects are written.
 *
 *     npm run planted                        all defects
 *     npm run planted -- 07- lock            those with one of the words in their name
 *     npm run planted -- lines               broken lines of the day: each has its turn within five days
 *     npm run planted -- lines loop/decide   those with one of the words in their name or code
 *     CAMPAIGN=1 npm run planted -- lines    all broken lines
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execute } from "./execute.ts";
import { type SourceText, applyEdits } from "./find-code.ts";
import { type Defect, Places, readDefects } from "./planted-defects.ts";
import { copyTree, firstLine, runTests } from "./scratch-copy.ts";
import type { TestReport, TestResult } from "./scratch-copy.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

/** A defect with its place in the sources. */
interface Planted extends Defect {
  readonly sources: readonly SourceText[];
  readonly changed: ReadonlyMap<string, string>;
}

/** What became of a defect; `problem` is left out if it was caught. */
interface Finding {
  readonly defect: Defect;
  readonly seconds: number;
  /** The first line of the test's message. */
  readonly message?: string;
  readonly problem?: string;
}

/** Copies that are tested at once. More would fight for the cores of a small machine. */
const copies = 2;
/** For the tests of all defects, which are run once without any. */
const greenLimitMs = 1_200_000;
/** Broken lines of the whole list that may go unnoticed. Some only cost time, or show on another machine. */
const mayBeUnnoticed = 2;
/** In how many days each broken line has its turn. */
const days = 5;

const isLines = process.argv[2] === "lines";
/** For the tests of one defect. A named test takes a second or two; a busy machine gets more. */
const limitMs = isLines ? 60_000 : 240_000;
// A name that is not there is a fault of the replacement. A time limit may be the machine's, but a broken line
// may make a loop endless.
const mistake = isLines
  ? /^(ReferenceError|SyntaxError)\b/
  : /^(ReferenceError|SyntaxError)\b|timed out in/;

function isChosen({ name, edits }: Defect, words: readonly string[]): boolean {
  const text = isLines ? `${name} ${edits[0]?.find}` : name;
  return words.length === 0 || words.some((word) => text.includes(word));
}

/** The broken lines of the day. */
function ofToday(lines: readonly Planted[]): readonly Planted[] {
  const day = Math.floor(Date.now() / 86_400_000);
  return lines.filter((_, at) => at % days === day % days);
}

/** Compiles packages of a copy. A mistake in a replacement would make tests fail for no good reason. */
async function compile(copy: string, files: Iterable<string>): Promise<string | undefined> {
  const folders = new Set([...files].map((file) => file.split("/", 2).join("/")));
  const compiler = join(root, "node_modules/tsc7/bin/tsc");
  const { ok, output } = await execute(["node", compiler, "-b", ...folders], copy);
  return ok ? undefined : `the changed code does not compile: ${firstLine(output)}`;
}

/** The results of the tests that a defect names. */
function resultsOf(report: TestReport, { files, test = "" }: Defect): readonly TestResult[] {
  return report.testResults
    .filter(({ name }) => files.some((file) => name.endsWith(`/${file}`)))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== "pending" && status !== "skipped")
    .filter(({ fullName }) => fullName.includes(test));
}

/** Runs the tests of defects without any, and gives what is wrong with them. */
async function runGreen(copy: string, defects: readonly Defect[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const group of Map.groupBy(defects, ({ test }) => test !== undefined).values()) {
    const files = group.flatMap((defect) => defect.files);
    const names = group.flatMap(({ test }) => test ?? []);
    const report = await runTests(copy, { files, names, limitMs: greenLimitMs });
    for (const defect of group) {
      const results = "crash" in report ? [] : resultsOf(report, defect);
      const red = results.find(({ status }) => status !== "passed");
      const none = "crash" in report ? report.crash : `there is no such test: ${defect.test ?? ""}`;
      if (results.length === 0) findings.push({ defect, seconds: 0, problem: none });
      else if (red !== undefined) {
        findings.push({ defect, seconds: 0, problem: `red without any defect: ${red.fullName}` });
      }
    }
  }
  return findings;
}

/** Whether the named tests failed, and because of what they found. */
function judge(report: TestReport, defect: Defect): Pick<Finding, "message" | "problem"> {
  const results = resultsOf(report, defect);
  if (results.length === 0) {
    const why = report.testResults.map(({ message }) => firstLine(message)).join("; ");
    return { problem: `no test ran, the changed code does not load: ${why}` };
  }
  const messages = results
    .filter(({ status }) => status === "failed")
    .flatMap(({ failureMessages = [] }) => failureMessages.map(firstLine));
  if (messages.length === 0) return { problem: "NOT CAUGHT: the test stays green" };
  const message = messages.find((line) => !mistake.test(line));
  return message === undefined
    ? { problem: `red for another reason: ${messages[0]}` }
    : { message };
}

/** Plants one defect, runs its tests, and takes the defect out again. */
async function plant(copy: string, defect: Planted): Promise<Finding> {
  const start = performance.now();
  for (const [file, text] of defect.changed) writeFileSync(join(copy, file), text);
  // A broken line may contradict the types of what follows it.
  const broken = isLines ? undefined : await compile(copy, defect.changed.keys());
  const names = defect.test === undefined ? [] : [defect.test];
  const run = { files: defect.files, names, limitMs, bail: isLines };
  const report = broken === undefined ? await runTests(copy, run) : { crash: broken };
  for (const { file, text } of defect.sources) writeFileSync(join(copy, file), text);
  const judged = "crash" in report ? { problem: report.crash } : judge(report, defect);
  return { defect, seconds: (performance.now() - start) / 1_000, ...judged };
}

function print({ defect, seconds, message, problem }: Finding): void {
  const state = problem === undefined ? "caught" : "FAILED";
  console.log(`${state} ${seconds.toFixed(1).padStart(6)} s  ${defect.name}: ${defect.what}`);
  console.log(`                 ${defect.files.join(" ")}: ${problem ?? message ?? ""}`);
}

async function main(words: readonly string[]): Promise<boolean> {
  if (isLines) process.env["MUTATION"] = "1"; // few runs of each property: one of them has to fail
  const all = readDefects(isLines ? "lines" : "defects");
  const chosen = all.filter((defect) => isChosen(defect, words));
  const places = new Places();
  const findings: Finding[] = [];
  const fitting = chosen.flatMap((defect): readonly Planted[] => {
    const [found, files] = [places.edits(defect), places.tests(defect)];
    if (typeof found !== "string" && typeof files !== "string") {
      const sources = found.map(({ source }) => source);
      return [{ ...defect, files, sources, changed: applyEdits(found) }];
    }
    const why = typeof found === "string" ? found : String(files);
    findings.push({ defect, seconds: 0, problem: `it no longer applies: ${why}` });
    return [];
  });
  const lost = findings.length;
  const isPart = isLines && words.length === 0 && process.env["CAMPAIGN"] !== "1";
  const planted = isPart ? ofToday(fitting) : fitting;
  using temporary = temporaryFolder();
  const trees = Array.from({ length: copies }, (_, at) => join(temporary.path, `copy${at}`));
  for (const tree of trees) await copyTree(tree);
  if (!isLines) findings.push(...(await runGreen(trees[0] ?? "", planted)));
  findings.forEach(print);

  const unsound = new Set(findings.map(({ defect }) => defect));
  const queue = planted.filter((defect) => !unsound.has(defect)).values();
  const work = async (tree: string): Promise<void> => {
    for (const defect of queue) {
      const finding = await plant(tree, defect);
      print(finding);
      findings.push(finding);
    }
  };
  await Promise.all(trees.map(work));
  const failed = findings.filter(({ problem }) => problem !== undefined).length;
  const what = isLines ? "broken lines" : "defects";
  console.log(
    `\ncount: ${findings.length - failed} ${what} caught, ${failed} not, of ${all.length}`,
  );
  const allowed = isLines ? Math.floor((mayBeUnnoticed * planted.length) / all.length) : 0;
  return planted.length > 0 && lost === 0 && failed <= allowed;
}

process.exitCode = (await main(process.argv.slice(isLines ? 3 : 2))) ? 0 : 1;
