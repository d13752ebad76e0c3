import { execFile } from "node:child_process";
import type { TestFolder } from "./folder.ts";
import { command } from "./terminal.ts";

/** What a line of shell came to. */
export interface ShellOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line of shell in which `m` is the command. Its sessions are in the folder. */
export function shell(
  line: string,
  folder: TestFolder,
  env: Readonly<Record<string, string>> = {},
): Promise<ShellOutcome> {
  const own = { PATH: process.env["PATH"] ?? "", HOME: folder.path, XDG_STATE_HOME: folder.path };
  const words = command.map((word) => `'${word}'`).join(" ");
  const script = `set -o pipefail; m() { ${words} "$@"; }; ${line}`;
  return new Promise((resolve) => {
    execFile(
      "bash",
      ["-c", script],
      { env: { ...own, ...env }, cwd: folder.path },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}
