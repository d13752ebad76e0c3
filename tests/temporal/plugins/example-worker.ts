/** The worker of an example, as a process of its own. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root } from "../../../scripts/workspace.ts";
import type { Servers } from "../cluster.ts";

export class ExampleWorker implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Starts it. Resolves when it takes work. */
  static async start(
    example: string,
    { temporal, redis, postgres }: Servers,
  ): Promise<ExampleWorker> {
    const program = join(root, "examples", example, "worker.ts");
    const child = spawn(process.execPath, ["--conditions=@millrace/source", program], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { TEMPORAL_ADDRESS: temporal.url, REDIS_URL: redis.url, DATABASE_URL: postgres.url },
    });
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
