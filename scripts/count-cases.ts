/**
 * Prints how many test cases each suite has: the tests that vitest finds when it loads the test
 * files, each row of a table of cases counted. None of them runs. A suite is a package, an app, an
 * example or a folder of tests/ and scripts/.
 *
 *     npm run cases                  the working tree
 *     npm run cases -- <commit>      the commit, then the working tree
 */
import { readFileSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { execute } from "./execute.ts";
import { linkDependencies } from "./scratch-copy.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

const total = "in all";

/** The cases below a folder: one entry for each suite, and one for all. */
async function countCases(top: string): Promise<ReadonlyMap<string, number>> {
  using folder = temporaryFolder();
  const list = join(folder.path, "cases.json");
  const listed = await execute(["vitest", "list", "--staticParse=false", `--json=${list}`], top);
  if (!listed.ok) throw new Error(listed.output);
  const cases = JSON.parse(readFileSync(list, "utf8")) as readonly { readonly file: string }[];
  const counts = new Map<string, number>();
  for (const { file } of cases)
    for (const row of [suiteOf(relative(realpathSync(top), file)), total])
      counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
}

function suiteOf(file: string): string {
  const [top = "", name = ""] = file.split("/");
  return name.includes(".") ? top : `${top}/${name}`;
}

/** The cases of a commit, in a copy of its files with the dependencies that are installed here. */
async function countCasesOf(commit: string): Promise<ReadonlyMap<string, number>> {
  using copy = temporaryFolder();
  const archive = join(copy.path, "tree.tar");
  for (const command of [
    ["git", "archive", `--output=${archive}`, commit],
    ["tar", "-xf", archive, "-C", copy.path],
  ] as const) {
    const { ok, output } = await execute(command);
    if (!ok) throw new Error(output);
  }
  linkDependencies(copy.path);
  return await countCases(copy.path);
}

const [commit] = process.argv.slice(2);
const columns = [
  ...(commit === undefined ? [] : [{ title: commit, counts: await countCasesOf(commit) }]),
  { title: "working tree", counts: await countCases(root) },
];
const suites = new Set(columns.flatMap(({ counts }) => [...counts.keys()]));
suites.delete(total);
const cell = (text: string): string => text.padStart(14);
console.log(columns.map(({ title }) => cell(title)).join(""));
for (const suite of [...[...suites].toSorted(), total])
  console.log(
    `${columns.map(({ counts }) => cell(String(counts.get(suite) ?? 0))).join("")}  ${suite}`,
  );
