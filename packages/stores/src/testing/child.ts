import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

/** A program of this folder in a process of its own. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** What it has said so far, by line. */
  readonly said: readonly string[];
  /** Resolves when it has said so many lines. */
  readonly hasSaid: (count: number) => Promise<void>;
  /** Sends a command and resolves with the line that answers it. */
  readonly ask: (command: string) => Promise<string>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when it is gone. */
  readonly gone: Promise<unknown>;
}

/** The arguments by which Node runs a program of this folder. */
export function programArguments(program: string, ...rest: readonly string[]): readonly string[] {
  const path = fileURLToPath(new URL(program, import.meta.url));
  return ["--conditions=@millrace/source", "--no-warnings", path, ...rest];
}

/** Starts a program of this folder. Whoever starts it disposes of it. */
export function startChild(program: string, ...rest: readonly string[]): Child {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    programArguments(program, ...rest),
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const said: string[] = [];
  let heard = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    said.push(line);
    heard.resolve();
    heard = Promise.withResolvers();
  });
  const gone = once(child, "close");
  const hasSaid = async (count: number): Promise<void> => {
    while (said.length < count) {
      await Promise.race([heard.promise, gone]);
      if (said.length < count && child.exitCode !== null) throw new Error("it ended too early");
    }
  };
  return {
    pid: child.pid as number, // it has one as soon as it was spawned
    said,
    hasSaid,
    ask: async (command) => {
      const next = said.length + 1;
      child.stdin.write(`${command}\n`);
      await hasSaid(next);
      return said[next - 1] as string;
    },
    kill: (signal) => void child.kill(signal),
    gone,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
