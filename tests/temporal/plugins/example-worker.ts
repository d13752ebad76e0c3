/** The worker of an example, as a process of its own. */
import { spawn } from "node:child_process";
import type { ChildProcess, ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { root } from "../../../scripts/workspace.ts";
import type { Servers } from "../cluster.ts";

/** Runs a program of an example to its end. Resolves to what it printed, or rejects with it. */
export async function runExample(
  example: string,
  program: string,
  servers: Servers,
): Promise<string> {
  const child = spawnExample(example, program, servers);
  let [printed, warned] = ["", ""];
  child.stdout.on("data", (text: Buffer) => (printed += text.toString()));
  child.stderr.on("data", (text: Buffer) => (warned += text.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`it ended with ${code}: ${printed}${warned}`);
  return printed;
}

export class ExampleWorker implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts it. Resolves when it takes work. */
  static async start(example: string, servers: Servers): Promise<ExampleWorker> {
    const child = spawnExample(example, "worker.ts", servers);
    let said = "";
    const ready = Promise.withResolvers<void>();
    for (const output of [child.stdout, child.stderr])
      output.on("data", (text: Buffer) => {
        said = (said + text.toString()).slice(-8_000);
        if (said.includes("ready\n")) ready.resolve();
      });
    child.once("exit", (code) => ready.reject(new Error(`it ended with ${code}: ${said}`)));
    await ready.promise;
    return new ExampleWorker(child);
  }

  /** SIGKILL. Resolves when it is gone. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

function spawnExample(
  example: string,
  program: string,
  { temporal, redis, postgres }: Servers,
): ChildProcessByStdio<null, Readable, Readable> {
  const path = join(root, "examples", example, program);
  return spawn(process.execPath, ["--conditions=@millrace/source", path], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { TEMPORAL_ADDRESS: temporal.url, REDIS_URL: redis.url, DATABASE_URL: postgres.url },
  });
}
