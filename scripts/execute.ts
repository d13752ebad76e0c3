/** How the other scripts run a command. */
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { root } from "./workspace.ts";

/** How a command ended, with everything it printed. */
export interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** Runs a command with the repository's own tools first on the path. Never rejects. */
export function execute(
  command: readonly [string, ...string[]],
  cwd: string = root,
): Promise<Outcome> {
  const [file, ...parameters] = command;
  const path = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  return new Promise((settle) => {
    const child = spawn(file, parameters, { cwd, env: { ...process.env, PATH: path } });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.on("error", (error) => settle({ ok: false, output: `${file}: ${error.message}\n` }));
    child.on("close", (code) => settle({ ok: code === 0, output }));
  });
}
