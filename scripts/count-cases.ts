/**
 * Prints how many test cases each suite has: the tests that vitest finds when it loads the test
 * files, each row of a table of cases counted. None of them runs. A suite is a package, an app, an
 * example or a folder of tests/ and scripts/.
 *
 *     npm run cases
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { execute } from "./execute.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

using folder = temporaryFolder();
const list = join(folder.path, "cases.json");
const { ok, output } = await execute(["vitest", "list", "--staticParse=false", `--json=${list}`]);
if (!ok) throw new Error(output);

const cases = JSON.parse(readFileSync(list, "utf8")) as readonly { readonly file: string }[];
const suites = Map.groupBy(cases, ({ file }) => suiteOf(relative(root, file)));
for (const [suite, found] of [...suites].toSorted(([a], [b]) => a.localeCompare(b)))
  console.log(`${String(found.length).padStart(6)}  ${suite}`);
console.log(`${String(cases.length).padStart(6)}  in all`);

function suiteOf(file: string): string {
  const [top = "", name = ""] = file.split("/");
  return name.includes(".") ? top : `${top}/${name}`;
}
