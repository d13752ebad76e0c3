/**
 * Breaks single lines of source, one at a time in a copy of the repository, and expects one of the named
 * test files to fail. The lines are data in tests/planted/broken-lines.jsonl: the file, the line's text
 * without its indent, what stands in its place, and the tests. A line is found by its text, which must
 * be in its file exactly once: `npm run check` names those that no longer are.
 *
 *     npm run planted -- lines               those of the day: each line has its turn within five days
 *     npm run planted -- lines decide.ts     those with one of the words in their file or text
 *     CAMPAIGN=1 npm run planted -- lines    all
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyTree, failureIn, runTests } from "./scratch-copy.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

interface BrokenLine {
  readonly file: string;
  /** Without its indent. */
  readonly line: string;
  readonly replacement: string;
  readonly tests: readonly string[];
}

interface Finding {
  readonly broken: BrokenLine;
  /** How a test failed, or why none did. */
  readonly message: string;
  readonly noticed: boolean;
}

const list = join(root, "tests/planted/broken-lines.jsonl");
/** Lines of the whole list that may go unnoticed. Some breaks only cost time, or show on another machine. */
const mayBeUnnoticed = 2;
const copies = 2;
/** For the tests of one line. */
const limitMs = 60_000;
/** In how many days each line has its turn. */
const days = 5;

function readLines(): readonly BrokenLine[] {
  const lines = readFileSync(list, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as BrokenLine);
}

/** The lines of the list that are no longer in their files, or more than once. */
export function lostLines(): readonly BrokenLine[] {
  return readLines().filter(
    (broken) => brokenSource(readFileSync(join(root, broken.file), "utf8"), broken) === undefined,
  );
}

/** A source with one of its lines broken, or why it can't be. */
function brokenSource(source: string, { line, replacement }: BrokenLine): string | undefined {
  const lines = source.split("\n");
  const places = lines.flatMap((each, at) => (each.trim() === line ? [at] : []));
  const [at = 0] = places;
  if (places.length !== 1) return undefined;
  const indent = /^\s*/.exec(lines[at] ?? "")?.[0] ?? "";
  return lines.with(at, indent + replacement).join("\n");
}

function choose(all: readonly BrokenLine[], words: readonly string[]): readonly BrokenLine[] {
  if (words.length > 0) {
    return all.filter(({ file, line }) => words.some((word) => `${file} ${line}`.includes(word)));
  }
  if (process.env["CAMPAIGN"] === "1") return all;
  const day = Math.floor(Date.now() / 86_400_000);
  return all.filter((_, at) => at % days === day % days);
}

/** Breaks a line in a copy, runs its tests, and puts the line back. */
async function test(copy: string, broken: BrokenLine): Promise<Finding> {
  const path = join(copy, broken.file);
  const source = readFileSync(path, "utf8");
  const changed = brokenSource(source, broken);
  if (changed === undefined) return { broken, message: "the line is not there", noticed: false };
  writeFileSync(path, changed);
  const report = await runTests(copy, { files: broken.tests, limitMs, bail: true });
  writeFileSync(path, source);
  if ("crash" in report) return { broken, message: report.crash, noticed: false };
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const { red, message } = failureIn(results);
  if (message !== undefined) return { broken, message, noticed: true };
  const why = red ? "the broken line is no sound code" : "the tests stay green";
  return { broken, message: results.length === 0 ? "no test ran" : why, noticed: false };
}

function print({ broken, message, noticed }: Finding): void {
  const { file, line, replacement } = broken;
  console.log(`${noticed ? "noticed" : "UNNOTICED"}  ${file}: ${line}  =>  ${replacement}`);
  console.log(`           ${message}`);
}

/** Tests the chosen lines, and gives how many failures there are. */
export async function testBrokenLines(words: readonly string[]): Promise<number> {
  process.env["MUTATION"] = "1"; // few runs of each property: one of them has to fail
  const all = readLines();
  const chosen = choose(all, words);
  using temporary = temporaryFolder();
  const queue = chosen.values();
  const findings: Finding[] = [];
  const work = async (number: number): Promise<void> => {
    const copy = join(temporary.path, `copy${number}`);
    await copyTree(copy);
    for (const broken of queue) {
      const finding = await test(copy, broken);
      findings.push(finding);
      print(finding);
    }
  };
  await Promise.all(Array.from({ length: copies }, (_, number) => work(number)));
  const unnoticed = findings.filter(({ noticed }) => !noticed).length;
  const count = `${findings.length - unnoticed} of ${findings.length} broken lines are noticed`;
  console.log(`count: ${count}, ${unnoticed} unnoticed, of ${all.length} in the list`);
  const allowed = Math.floor((mayBeUnnoticed * chosen.length) / all.length);
  return unnoticed > allowed || chosen.length === 0 ? 1 : 0;
}
