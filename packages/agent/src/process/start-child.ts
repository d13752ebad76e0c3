import { spawn } from "node:child_process";
import type { ChildProcess, StdioOptions } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { Readable } from "node:stream";

import type { Cause } from "@millrace/core";

import type { Confinement } from "./confinement.ts";
import type { Environment } from "./environment.ts";
import { findProgram } from "./find-program.ts";
import type { ProcessEnding } from "./process-outcome.ts";
import { within } from "./within.ts";

export interface StartOptions {
  readonly cwd: string | undefined;
  readonly env: Environment;
  readonly confinement: Confinement;
  /** Written to the standard input, which is closed afterwards. `undefined`: there is none. */
  readonly input: string | Uint8Array | undefined;
  /** True to leave the standard input open for the caller. */
  readonly keepsInput?: boolean | undefined;
}

export type StartedChild =
  | {
      readonly started: true;
      readonly child: ChildProcess;
      readonly pid: number;
      /** How it ended by itself, once it did. */
      readonly ending: Promise<ProcessEnding>;
    }
  | { readonly started: false; readonly cause: Promise<Cause> };

/**
 * Starts a process as the leader of a session of its own, without a shell and without our files.
 * Returns at once, so that the caller can read the process's start time before it is reaped.
 */
export function startChild(command: readonly string[], options: StartOptions): StartedChild {
  const [file = ""] = command;
  const { cwd, env, input, confinement } = options;
  if (process.platform === "win32") {
    return refuse("unsupported_platform", "processes can be ended for certain on POSIX only");
  }
  if (file === "") return refuse("invalid_command", "a command needs a program to start");
  const { prefix, namespace } = confinement;
  if (prefix.length > 0) {
    // The wrapper starts in any case, so a missing program would be an exit code of it.
    const found = findProgram(file, { path: env["PATH"], cwd });
    if (found.file === undefined) {
      const error = new Error(`spawn ${file} ${found.errno}`);
      return failed(Object.assign(error, { code: found.errno }), file, cwd);
    }
  }
  try {
    const [program = "", ...rest] = [...prefix, ...command];
    const child = spawn(program, rest, {
      // A copy: Node's type is mutable.
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      detached: true,
      stdio: [
        input === undefined && options.keepsInput !== true ? "ignore" : "pipe",
        "pipe",
        "pipe",
      ].concat(namespace ? "pipe" : []) as StdioOptions,
    });
    const cause = new Promise<Cause>((resolve) => {
      child.on("error", (error) => resolve(causeOf(error, file, cwd)));
    });
    const { pid } = child;
    if (pid === undefined) return { started: false, cause };
    // A process need not read what it is given.
    child.stdin?.on("error", () => undefined);
    if (options.keepsInput !== true) child.stdin?.end(input);
    return { started: true, child, pid, ending: endingOf(child) };
  } catch (error) {
    // Thrown for what no process can be given, such as an argument with a NUL in it.
    return failed(error instanceof Error ? error : new Error(String(error)), file, cwd);
  }
}

/** How a process ended, by its exit and by what its wrapper reported. */
async function endingOf(child: ChildProcess): Promise<ProcessEnding> {
  const report = readReport(child);
  const { code, signal } = await new Promise<{
    readonly code: number | null;
    readonly signal: string | null;
  }>((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  // Node gives exactly one of them.
  if (signal !== null) return { ended: "signalled", signal };
  const reported = code === null || code === 0 || report === undefined ? "" : await report();
  if (reported === "") return { ended: "exited", code: code ?? 0 };
  // A shell reports each signal but the usual ones of a terminal and a pipe, and adds 128 to its number.
  // Before 2.39 `unshare` exits with 1 where its child was killed.
  const number = reported.includes("sigprocmask unblock failed") ? 9 : (code ?? 0) - 128;
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  if (name !== undefined) return { ended: "signalled", signal: name };
  const message = `the process could not be confined: ${reported.trim()}`;
  return { ended: "failed_to_start", cause: { code: "spawn_failed", message } };
}

/** Reads what the wrapper of a namespace reports. The command doesn't hold that pipe, so it ends with the wrapper. */
function readReport(child: ChildProcess): (() => Promise<string>) | undefined {
  const pipe = child.stdio[3];
  if (!(pipe instanceof Readable)) return undefined;
  let text = "";
  pipe.on("data", (bytes: Buffer) => {
    text = (text + bytes.toString("utf8")).slice(0, 4_096);
  });
  pipe.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => pipe.once("close", resolve));
  return async () => {
    await within(250, closed);
    return text;
  };
}

function failed(
  problem: NodeJS.ErrnoException,
  file: string,
  cwd: string | undefined,
): StartedChild {
  return { started: false, cause: Promise.resolve(causeOf(problem, file, cwd)) };
}

function refuse(code: string, message: string): StartedChild {
  return { started: false, cause: Promise.resolve({ code, message }) };
}

const codes: Readonly<Record<string, string>> = {
  ERR_INVALID_ARG_TYPE: "invalid_command",
  ERR_INVALID_ARG_VALUE: "invalid_command",
  ENOENT: "not_found",
  EACCES: "not_permitted",
  EPERM: "not_permitted",
  E2BIG: "command_too_long",
  EAGAIN: "no_resources",
  EMFILE: "no_resources",
  ENOMEM: "no_resources",
};

function causeOf(error: NodeJS.ErrnoException, file: string, cwd: string | undefined): Cause {
  const { code: errno = "", message } = error;
  // The error is the same for a missing program and a missing folder.
  if (errno === "ENOENT" && cwd !== undefined && !existsSync(cwd)) {
    return { code: "no_folder", message: `the folder ${cwd} does not exist`, evidence: { errno } };
  }
  const code = codes[errno] ?? "spawn_failed";
  const text = code === "not_found" ? `there is no program ${file}` : message;
  return { code, message: text, retryable: code === "no_resources", evidence: { errno } };
}
