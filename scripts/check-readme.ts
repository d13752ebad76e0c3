/**
 * Checks that the code in a README, or in a page of `docs`, is code that runs. A block comes from a file, named in a
 * comment:
 *
 *     <!-- from: examples/hello/main.ts#send -->    the lines between #region send and #endregion
 *     <!-- from: examples/hello/main.ts -->         the whole file
 *
 * A shell block needs no file if it only runs npm, node, cd and git clone, with npm scripts and
 * files that exist. A block in another language is checked only if it names a file.
 *
 *     node scripts/check-readme.ts           fails if a block differs from its file
 *     node scripts/check-readme.ts --write   refreshes the blocks
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readManifest, report, root } from "./workspace.ts";

/** The correct text of a README, and the problems of the current one. */
export interface Checked {
  readonly text: string;
  readonly problems: readonly string[];
}

/** One fenced block of code, with the comment above it if that names a file. */
interface Block {
  readonly head: string;
  readonly file?: string;
  readonly region?: string;
  readonly indent: string;
  readonly language: string;
  readonly code: string;
}

const blocks =
  /^(?<head>(?:<!-- from: (?<file>[^\s#]+)(?:#(?<region>\S+))? -->\n+)?(?<indent>[ \t]*)```(?<language>\w*).*\n)(?<code>[^]*?)^\k<indent>```$/gm;

/** Checks one README, given by its path relative to `top`. */
export function checkReadme(readme: string, top: string = root): Checked {
  const before = readFileSync(join(top, readme), "utf8");
  const problems: string[] = [];
  let text = "";
  let done = 0;
  for (const match of before.matchAll(blocks)) {
    const found = match.groups as unknown as Block;
    const line = before.slice(0, match.index).split("\n").length;
    const { code, wrong } = checkBlock(found, [join(top, dirname(readme)), top]);
    problems.push(...wrong.map((problem) => `${readme}:${line}: ${problem}`));
    text += `${before.slice(done, match.index)}${found.head}${code}${found.indent}\`\`\``;
    done = match.index + match[0].length;
  }
  return { text: text + before.slice(done), problems };
}

/** Returns the problem of a block, and its correct code. The last folder is the top. */
function checkBlock(found: Block, folders: readonly string[]): { code: string; wrong: string[] } {
  const { file, region, indent, language, code } = found;
  const isShell = ["sh", "bash"].includes(language);
  const isCode = ["ts", "tsx", "typescript", "js"].includes(language);
  if (indent !== "" && (isShell || isCode)) {
    return { code, wrong: ["a code block starts in the first column"] };
  }
  if (file === undefined && isShell) return { code, wrong: checkCommands(code, folders) };
  if (file === undefined) return { code, wrong: isCode ? ["name the file it is from"] : [] };
  const expected = extract(join(folders.at(-1) ?? "", file), region);
  if (expected === undefined) {
    return { code, wrong: [`there is no ${region === undefined ? file : `${file}#${region}`}`] };
  }
  const wrong = code === expected ? [] : [`differs from ${file}: run npm run readme`];
  return { code: expected, wrong };
}

/** The text of a file or of one region in it, without the common indentation. */
function extract(path: string, region: string | undefined): string | undefined {
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  if (region === undefined) return `${lines.join("\n")}\n`;
  const first = lines.findIndex((line) => /^\s*(\/\/|#) #region (.*)$/.exec(line)?.[2] === region);
  const last = lines.findIndex((line, at) => at > first && /^\s*(\/\/|#) #endregion/.test(line));
  if (first === -1 || last === -1) return undefined;
  const inside = lines.slice(first + 1, last);
  const indents = inside.filter((line) => line !== "").map((line) => line.search(/\S/));
  return inside.map((line) => `${line.slice(Math.min(...indents))}\n`).join("");
}

/**
 * Returns the problems of the commands in a shell block. Paths may be relative to any of the folders. What
 * follows a `cd` out of the repository runs in a project that the commands have made, so only its programs
 * are checked.
 */
function checkCommands(code: string, folders: readonly string[]): string[] {
  let isElsewhere = false;
  return code
    .split(/\n|&&/)
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "")
    .flatMap((line) => {
      const [program, first, second] = line.split(/\s+/).filter((word) => !word.startsWith("-"));
      isElsewhere ||= line.startsWith("cd ../");
      if (program === "cd" || (program === "git" && first === "clone")) return [];
      if (program === "node") {
        const isThere = folders.some((folder) => existsSync(join(folder, first ?? "")));
        return isThere ? [] : [`there is no ${first} for: ${line}`];
      }
      if (program !== "npm") return [`name the file it is from, or leave out: ${line}`];
      if (isElsewhere || (first !== "run" && first !== "test" && first !== "start")) return [];
      const [, workspace] = / -w (\S+)/.exec(line.split(" -- ")[0] ?? "") ?? [];
      const where = workspace === undefined ? folders : folders.map((at) => join(at, workspace));
      const script = first === "run" ? second : first;
      return hasScript(script ?? "", where) ? [] : [`there is no npm script for: ${line}`];
    });
}

function hasScript(script: string, folders: readonly string[]): boolean {
  return folders
    .map((folder) => join(folder, "package.json"))
    .some((path) => existsSync(path) && script in (readManifest(path).scripts ?? {}));
}

if (import.meta.main) {
  const exclude = ["**/node_modules", "**/dist"];
  const readmes = globSync(["**/README.md", "docs/*.md", "docs/providers/*.md"], {
    cwd: root,
    exclude,
  });
  if (process.argv.includes("--write")) {
    for (const readme of readmes) writeFileSync(join(root, readme), checkReadme(readme).text);
  }
  const problems = readmes.flatMap((readme) => checkReadme(readme).problems);
  report(problems, `readme: ${readmes.length} files show what runs`);
}
