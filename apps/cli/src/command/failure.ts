import { MillraceError } from "@millrace/core";
import { terminalLine } from "@millrace/agent/terminal";
import { exitCodes } from "./exit-codes.ts";

/** An error as the user is shown it: one line without a stack, and the exit code. */
export interface Failure {
  readonly problem: string;
  readonly code: number;
}

/** The reasons of the operating system that users meet with a folder, in words. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
  ENOTDIR: "it is no folder",
  EEXIST: "it is no folder",
  ENOENT: "it can't be made",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "its name is too long",
};

/**
 * Describes an error that ends the command. The only files that the command itself opens are those of
 * sessions, so an error of the operating system is one of their folder: a mistake of the user, and
 * `--store` mends it.
 */
export function describeFailure(error: unknown, folder: string): Failure {
  if (MillraceError.is(error)) {
    return {
      problem: `${terminalLine(error.message, 400)} (${error.code})`,
      code: exitCodes.failed,
    };
  }
  const code = codeOf(error);
  if (code !== undefined && error instanceof Error && "syscall" in error) {
    const reason = reasons[code] ?? terminalLine(error.message);
    return {
      problem: `can't keep sessions in ${terminalLine(folder)}: ${reason} (${code}); name another folder with --store <folder>`,
      code: exitCodes.usage,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    problem: `unexpected: ${terminalLine(message, 400)} (MILLRACE_DEBUG=1 prints where)`,
    code: exitCodes.failed,
  };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}
