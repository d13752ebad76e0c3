/**
 * Prints how many lines of code, of comments and without either the product's sources have, for the
 * working tree and, side by side, for a commit. Product sources are the .ts files of packages/*\/src
 * and apps/*\/src without tests and without folders named testing.
 *
 *     npm run lines                  the working tree
 *     npm run lines -- <commit>      the commit, then the working tree
 */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { isForTests } from "./sources.ts";
import { temporaryFolder } from "./temporary.ts";
import { root } from "./workspace.ts";

/** Lines by their content. A comment after code is on a line of code. */
export interface LineCount {
  readonly code: number;
  readonly comments: number;
  readonly blank: number;
  readonly files: number;
  /** The number of lines of the longest file. */
  readonly longest: number;
}

const nothing: LineCount = { code: 0, comments: 0, blank: 0, files: 0, longest: 0 };

/** Counts the lines below a folder: one entry for each package and app, and `total`. */
export function countLines(top: string): Map<string, LineCount> {
  const counts = new Map<string, LineCount>();
  for (const file of globSync("{packages,apps}/*/src/**/*.ts", { cwd: top }).toSorted()) {
    if (isForTests(file)) continue;
    const name = file.split("/").slice(0, 2).join("/");
    const lines = countText(file, readFileSync(join(top, file), "utf8"));
    for (const row of [name, total]) counts.set(row, sum(counts.get(row) ?? nothing, lines));
  }
  return counts;
}

const total = "total";

function countText(file: string, text: string): LineCount {
  const { comments } = parseSync(file, text);
  let code = "";
  let end = 0;
  for (const comment of comments) {
    code += text.slice(end, comment.start);
    code += text.slice(comment.start, comment.end).replaceAll(/\S/g, " ");
    end = comment.end;
  }
  const withoutComments = (code + text.slice(end)).split("\n");
  const lines = text.trimEnd().split("\n");
  const isCode = lines.map((_, at) => withoutComments[at]?.trim() !== "");
  const isBlank = lines.map((line) => line.trim() === "");
  const count = (test: (at: number) => boolean): number => lines.filter((_, at) => test(at)).length;
  return {
    code: count((at) => isCode[at] === true),
    comments: count((at) => isCode[at] !== true && isBlank[at] !== true),
    blank: count((at) => isBlank[at] === true),
    files: 1,
    longest: lines.length,
  };
}

function sum(a: LineCount, b: LineCount): LineCount {
  return {
    code: a.code + b.code,
    comments: a.comments + b.comments,
    blank: a.blank + b.blank,
    files: a.files + b.files,
    longest: Math.max(a.longest, b.longest),
  };
}

/** Counts the files of a commit, in a temporary copy. */
function countCommit(commit: string): Map<string, LineCount> {
  using folder = temporaryFolder();
  const archive = join(folder.path, "commit.tar");
  execFileSync("git", ["archive", `--output=${archive}`, commit], { cwd: root });
  execFileSync("tar", ["-xf", archive, "-C", folder.path]);
  return countLines(folder.path);
}

const columns = ["code", "comments", "blank", "files", "longest"] as const;

/** Prints one line for each package, with the columns of each count side by side. */
function print(counts: ReadonlyMap<string, ReadonlyMap<string, LineCount>>): void {
  const names = new Set([...counts.values()].flatMap((count) => [...count.keys()]));
  const rows = [...names].filter((name) => name !== total).toSorted();
  const line = (name: string, cells: readonly string[]): void =>
    console.log(name.padEnd(22) + cells.map((cell) => cell.padStart(10)).join(""));
  line(
    "",
    [...counts.keys()].flatMap((what) => [what, "", "", "", ""]),
  );
  line(
    "",
    [...counts.keys()].flatMap(() => [...columns]),
  );
  for (const name of [...rows, total]) {
    line(
      name,
      [...counts.values()].flatMap((count) =>
        columns.map((column) => String((count.get(name) ?? nothing)[column])),
      ),
    );
  }
}

if (import.meta.main) {
  const [commit] = process.argv.slice(2);
  print(
    new Map([
      ...(commit === undefined ? [] : [[commit.slice(0, 9), countCommit(commit)] as const]),
      ["now", countLines(root)] as const,
    ]),
  );
}
