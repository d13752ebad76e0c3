import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { until } from "../../kit/until.ts";

/** A process of the app, as people start it. Killed at the end of its scope. */
export interface AppProcess extends AsyncDisposable {
  /** The first line that it printed: the address of a server. */
  readonly url: string;
  readonly lines: readonly string[];
  readonly kill: () => Promise<void>;
}

/** Starts the server, or a worker alone, with services, and waits until it is up. */
export async function startProcess(
  program: "main" | "worker",
  env: Readonly<Record<string, string>>,
): Promise<AppProcess> {
  const file = new URL(`../../../apps/chat/src/server/${program}.ts`, import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=@millrace/source", file], {
    env: { ...process.env, DEMO_PACE: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => lines.push(line));
  let errors = "";
  child.stderr.on("data", (text: Buffer) => (errors = `${errors}${text.toString()}`.slice(-4_000)));
  const isUp = (): boolean => lines.some((line) => line.startsWith("with "));
  await until(() => isUp() || child.exitCode !== null, `the ${program} has started`);
  if (!isUp()) throw new Error(`the ${program} did not start: ${errors}`);
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { url: lines[0] ?? "", lines, kill, [Symbol.asyncDispose]: kill };
}
