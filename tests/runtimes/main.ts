/**
 * Runs one set of cases of the client in Node, Bun and Deno: the built package against a real server over
 * real sockets. Bun and Deno are installed in this folder by it.
 *
 *     npm run runtimes          all of them
 *     npm run runtimes -- bun   one of them
 *
 * Needs the built packages.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { execute } from "../../scripts/execute.ts";
import { temporaryFolder } from "../../scripts/temporary.ts";
import type { Tally } from "../../scripts/workspace.ts";
import { cases, lastCases, slowCases } from "./cases.ts";
import { openStage } from "./stage.ts";

const bin = join(import.meta.dirname, "node_modules/.bin");
const runner = join(import.meta.dirname, "runner.ts");

/** How each runtime is started. */
const runtimes: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath],
  bun: [join(bin, "bun")],
  deno: [join(bin, "deno"), "run", "--quiet", "--no-lock", "--allow-all"],
};

const names = [cases, slowCases, lastCases].flatMap((each) => Object.keys(each));
/** A runtime that does not end is ended, and has failed. */
const patienceMs = 120_000;
/** After its last line a runtime ends by itself within this. */
const exitMs = 5_000;

/** Runs the cases in the runtimes that are named, beside each other, each with a server of its own. */
export async function checkRuntimes(wanted: readonly string[] = []): Promise<Tally> {
  const flags = ["--silent", "--prefer-offline", "--no-audit", "--no-fund"];
  const installed = await execute(["npm", "ci", ...flags], import.meta.dirname);
  if (!installed.ok) console.log(installed.output);
  const chosen = Object.keys(runtimes).filter(
    (name) => wanted.length === 0 || wanted.includes(name),
  );
  const tallies = await Promise.all(chosen.map(checkRuntime));
  return {
    passed: tallies.reduce((sum, { passed }) => sum + passed, 0),
    failed: tallies.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** One more than the cases: that the runtime ends by itself. */
async function checkRuntime(name: string): Promise<Tally> {
  using folder = temporaryFolder();
  await using open = await openStage(folder.path);
  const { lines, exitAfterMs } = await run([
    ...(runtimes[name] ?? []),
    runner,
    JSON.stringify(open.stage),
  ]);
  const passed = names.filter((each) => lines.some((line) => line.startsWith(`ok ${each} (`)));
  const ends = exitAfterMs !== undefined && exitAfterMs < exitMs;
  console.log(
    [
      `${name}:`,
      ...lines,
      ends ? `ok it ends by itself (${exitAfterMs} ms)` : "FAILED it does not end by itself",
    ].join("\n  "),
  );
  const count = passed.length + (ends ? 1 : 0);
  return { passed: count, failed: names.length + 1 - count };
}

async function run(
  words: readonly string[],
): Promise<{ readonly lines: readonly string[]; readonly exitAfterMs: number | undefined }> {
  const [program = "", ...rest] = words;
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let doneAt: number | undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      output += bytes.toString();
      if (output.includes("all cases were run")) doneAt ??= Date.now();
    });
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  const exitAfterMs = doneAt === undefined || code !== 0 ? undefined : Date.now() - doneAt;
  return { lines: output.trim().split("\n"), exitAfterMs };
}

if (import.meta.main) {
  const { passed, failed } = await checkRuntimes(process.argv.slice(2));
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
