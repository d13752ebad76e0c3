import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";

import type { Cause } from "@millrace/core";

import type { Environment } from "./environment.ts";

export interface StartOptions {
  readonly cwd: string | undefined;
  readonly env: Environment;
  readonly input: string | Uint8Array | undefined;
}

export type StartedChild =
  | { readonly started: true; readonly child: ChildProcess; readonly pid: number }
  | { readonly started: false; readonly cause: Promise<Cause> };

/**
 * Starts a process as the leader of a session of its own, without a shell and without our files.
 * Returns at once, so that the caller can read the process's start time before it is reaped.
 */
export function startChild(command: readonly string[], options: StartOptions): StartedChild {
  const [file = "", ...rest] = command;
  const { cwd, env, input } = options;
  if (process.platform === "win32") {
    return refuse("unsupported_platform", "processes can be ended for certain on POSIX only");
  }
  if (file === "") return refuse("invalid_command", "a command needs a program to start");
  try {
    const child = spawn(file, rest, {
      // A copy: Node's type is mutable.
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      detached: true,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    const failed = new Promise<Cause>((resolve) => {
      child.on("error", (error) => resolve(causeOf(error, file, cwd)));
    });
    const { pid } = child;
    if (pid === undefined) return { started: false, cause: failed };
    // A process need not read what it is given.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
    return { started: true, child, pid };
  } catch (error) {
    // Thrown for what no process can be given, such as an argument with a NUL in it.
    const known = error instanceof Error ? error : new Error(String(error));
    return { started: false, cause: Promise.resolve(causeOf(known, file, cwd)) };
  }
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
