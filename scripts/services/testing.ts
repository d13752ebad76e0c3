/** What tests of the services share: Node processes that are watched from outside. */
import { type ChildProcess, spawn } from "node:child_process";

/** Starts Node in this folder, without the options of the test runner. */
export function startNode(parameters: readonly string[]): ChildProcess {
  return spawn(process.execPath, parameters, {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_OPTIONS: "" },
  });
}

/** The first line that a process prints, or the first that begins so. Empty if it ends before. */
export async function firstLine(child: ChildProcess, start: string = ""): Promise<string> {
  let text = "";
  for await (const part of child.stdout ?? []) {
    text += String(part);
    const complete = text.split("\n").slice(0, -1);
    const line = complete.find((candidate) => candidate.startsWith(start));
    if (line !== undefined) return line;
  }
  return "";
}
