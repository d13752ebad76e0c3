import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

/** A program of this folder in a process of its own. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** The lines that it has printed so far. */
  readonly printed: readonly string[];
  /** Resolves when it has printed so many lines. */
  readonly hasPrinted: (count: number) => Promise<void>;
  /** Sends a command and resolves with the line that answers it. */
  readonly ask: (command: string) => Promise<string>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when it has ended. */
  readonly gone: Promise<unknown>;
}

/** The arguments by which Node runs a program of this folder. */
export function programArguments(program: string, ...rest: readonly string[]): readonly string[] {
  const path = fileURLToPath(new URL(program, import.meta.url));
  return ["--conditions=@millrace/source", "--no-warnings", path, ...rest];
}

/** Starts a program of this folder. The caller disposes of it. */
export function startChild(program: string, ...rest: readonly string[]): Child {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    programArguments(program, ...rest),
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const printed: string[] = [];
  let nextLine = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    printed.push(line);
    nextLine.resolve();
    nextLine = Promise.withResolvers();
  });
  const gone = once(child, "close");
  const hasPrinted = async (count: number): Promise<void> => {
    while (printed.length < count) {
      await Promise.race([nextLine.promise, gone]);
      if (printed.length < count && child.exitCode !== null) throw new Error("it ended too early");
    }
  };
  return {
    pid: child.pid as number, // it has one as soon as it was spawned
    printed,
    hasPrinted,
    ask: async (command) => {
      const next = printed.length + 1;
      child.stdin.write(`${command}\n`);
      await hasPrinted(next);
      return printed[next - 1] as string;
    },
    kill: (signal) => void child.kill(signal),
    gone,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
