import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { until } from "../../kit/until.ts";

/** A program of a project, with all processes that it starts. Killed at the end of its scope. */
export interface Started extends AsyncDisposable {
  readonly lines: readonly string[];
  /** The first line that is an address, once it is printed. */
  readonly url: () => Promise<string>;
  /** The exit code, once it has ended by itself. */
  readonly exit: () => Promise<number | null>;
  /** Ends it as a container does. The exit code. */
  readonly terminate: () => Promise<number | null>;
}

/** Starts a command as the leader of a process group. */
export function start(
  [file, ...parameters]: readonly [string, ...string[]],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Started {
  const child = spawn(file, parameters, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const ended = once(child, "exit") as Promise<[number | null]>;
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => lines.push(line));
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // all of the group have ended
    }
  };
  return {
    lines,
    url: async () => {
      const found = (): string | undefined => lines.find((line) => line.startsWith("http://"));
      await until(() => found() !== undefined || child.exitCode !== null, "it prints its address");
      const url = found();
      if (url === undefined) throw new Error(`it ended:\n${lines.join("\n")}`);
      return url;
    },
    exit: async () => (await ended)[0],
    terminate: async () => {
      signal("SIGTERM");
      return (await ended)[0];
    },
    [Symbol.asyncDispose]: async () => {
      signal("SIGKILL");
      await ended;
    },
  };
}
