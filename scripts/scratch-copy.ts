/**
 * Copies of the repository in which a deliberate defect is tested. Nothing is changed in the repository
 * itself, and tests in a copy import the packages of that copy.
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
import { dirname, join, relative } from "node:path";
import { execute } from "./execute.ts";
import { root } from "./workspace.ts";

/** The fields of vitest's JSON report that are read here. */
export interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly TestResult[];
  }[];
}

export interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}

/** Copies the working tree as it is, without what git ignores, so that defects can't harm it. */
export async function copyTree(to: string): Promise<void> {
  const listed = await execute(["git", "ls-files", "-co", "--exclude-standard", "-z"]);
  if (!listed.ok) throw new Error(`the files can't be listed: ${listed.output}`);
  for (const file of listed.output.split("\0")) {
    const from = join(root, file);
    // What was deleted and not committed so far is listed too, and so is a link to a folder.
    if (statSync(from, { throwIfNoEntry: false })?.isFile() !== true) continue;
    mkdirSync(dirname(join(to, file)), { recursive: true });
    copyFileSync(from, join(to, file));
  }
  linkDependencies(to);
}

/** Gives a copy of the tree the dependencies that are installed here. */
export function linkDependencies(to: string): void {
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

/** A run of tests in a copy. */
export interface TestRun {
  readonly files: readonly string[];
  /** Parts of names of the tests that count. None: all tests of the files. */
  readonly names: readonly string[];
  /** Then the run is ended, with all its workers. */
  readonly limitMs: number;
  /** Ends after the first failure. */
  readonly bail?: boolean;
}

/** Runs tests in a copy. Gives the report, or what went wrong with the run itself. */
export async function runTests(
  copy: string,
  { files, names, limitMs, bail = false }: TestRun,
): Promise<TestReport | { readonly crash: string }> {
  const output = join(copy, "planted.json");
  rmSync(output, { force: true });
  const pattern = [...new Set(names)].map((name) => RegExp.escape(name)).join("|");
  const chosen = names.length === 0 ? [] : ["-t", pattern];
  // Neither the project "temporal" nor "timed".
  const parameters = ["run", "--project=!t*", "--root", copy, ...new Set(files), ...chosen];
  const reporter = ["--reporter=json", `--outputFile=${output}`, ...(bail ? ["--bail=1"] : [])];
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const ended = await runLimited([vitest, ...parameters, ...reporter], copy, limitMs);
  if (ended.late) return { crash: "it ran out of time" };
  if (!existsSync(output))
    return { crash: `the runner gave no report: ${firstLine(ended.printed)}` };
  return JSON.parse(readFileSync(output, "utf8")) as TestReport;
}

/** Runs Node, and ends it with all its workers when its time is up: a worker that spins takes no other end. */
function runLimited(
  parameters: readonly string[],
  cwd: string,
  limitMs: number,
): Promise<{ readonly late: boolean; readonly printed: string }> {
  return new Promise((settle, fail) => {
    const env = { ...process.env, NO_COLOR: "1" };
    const child = spawn(process.execPath, parameters, { cwd, env, detached: true });
    let printed = "";
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, limitMs);
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
    child.on("error", fail);
    child.on("close", () => {
      clearTimeout(timer);
      settle({ late, printed });
    });
  });
}

export function firstLine(text: string): string {
  return (text.split("\n").find((line) => line.trim() !== "") ?? "").trim().slice(0, 160);
}
