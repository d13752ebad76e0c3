/**
 * Runs the programs of `mistakes.ts`, each in a child process, and compares the first line of output and
 * the exit code. `npm run ci` runs them from packed packages, the test beside this file from the sources.
 */
import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mistake } from "./mistakes.ts";

/** Where the programs run: a folder in which the packages are installed, and the command of Node. */
export interface Place {
  readonly folder: string;
  readonly node: readonly [string, ...string[]];
}

/** What a program printed and how it ended. */
export interface Ran {
  readonly line: string;
  readonly exit: number | null;
  readonly output: string;
}

/** A program that hangs is ended after this time. */
const longestMs = 60_000;

/** Runs one program and returns its first line and exit code. */
export async function runMistake(mistake: Mistake, { folder, node }: Place): Promise<Ran> {
  const file = join(folder, `mistake-${mistake.name.replaceAll(/\W+/g, "-")}.mjs`);
  writeFileSync(file, mistake.program);
  const [command, ...parameters] = node;
  // Nothing of this machine's settings, so that no key and no address is found.
  const env = { PATH: process.env["PATH"], HOME: folder, NO_COLOR: "1", ...mistake.env };
  const child = spawn(command, [...parameters, file], { cwd: folder, env });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), longestMs);
  const exit = await new Promise<number | null>((settle) => child.on("close", settle));
  clearTimeout(timer);
  rmSync(file);
  return { line: firstLine(output), exit, output };
}

/** What is wrong with what a program printed. Nothing if it is as the table has it. */
export function problemsOf(mistake: Mistake, ran: Ran): readonly string[] {
  const isExpected = ran.line === mistake.line;
  return [
    ...(isExpected ? [] : [`expected ${mistake.line}\n     got ${ran.line}`]),
    ...(ran.exit === mistake.exit ? [] : [`expected exit ${mistake.exit}, got ${ran.exit}`]),
    ...(ownFrame.test(ran.output) ? [`a stack of ours: ${ownFrame.exec(ran.output)?.[0]}`] : []),
  ];
}

/** A line of a stack in a file of these packages, installed or as sources. */
const ownFrame = /^ *at .*(?:node_modules\/@millrace|packages\/[a-z]+\/(?:src|dist))\/.*$/m;

/**
 * The first line, without what Node quotes of a program before an uncaught error: the place, the source
 * line, a mark and an empty line. Ids, ports and process numbers become names.
 */
function firstLine(output: string): string {
  const quoted = /^(?:file:|node:internal).*:\d+\n(?:.*\n){2}\n/.exec(output)?.[0] ?? "";
  return (output.slice(quoted.length).split("\n")[0] ?? "")
    .replaceAll(/run_[0-9a-f]{32}/g, "run_<id>")
    .replaceAll(/127\.0\.0\.1:\d{4,5}/g, "127.0.0.1:<port>")
    .replace(/^\(node:\d+\)/, "(node)")
    .replace(/ \{$/, "");
}
