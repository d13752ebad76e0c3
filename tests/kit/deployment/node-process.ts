import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { ProcessStats } from "./process-stats.ts";

export interface NodeProcessOptions {
  readonly program: string;
  /** The one argument of the program, as JSON. */
  readonly config: object;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Called for each error that the program left to nobody: it is a defect of the program. */
  readonly onStray: (error: string) => void;
}

/** A message of a node to its test. */
export type NodeMessage =
  | { readonly type: "ready" }
  | { readonly type: "stats"; readonly stats: ProcessStats }
  | { readonly type: "stray"; readonly error: string };

/** A process of a deployment. It is killed, stopped and started again under the same name and address. */
export class NodeProcess implements AsyncDisposable {
  readonly #options: NodeProcessOptions;
  #child: ChildProcess | undefined;
  /** The one that was killed or terminated last. */
  #ended: ChildProcess | undefined;
  #stderr = "";

  constructor(options: NodeProcessOptions) {
    this.#options = options;
  }

  get runs(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Of the process that runs, or ran last. 0 before the first start. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it. Settles when it is ready, or was killed meanwhile, or rejects with what it printed. */
  async start(): Promise<void> {
    if (this.runs) return;
    const { program, config, environment = {}, onStray } = this.#options;
    const child = fork(program, [JSON.stringify(config)], {
      execArgv: ["--no-warnings"],
      stdio: ["ignore", "inherit", "pipe", "ipc"],
      env: { NODE_COMPILE_CACHE: `${program}.cache`, ...environment },
    });
    this.#child = child;
    this.#stderr = "";
    child.stderr?.on("data", (text: Buffer) => {
      this.#stderr = (this.#stderr + text.toString()).slice(-4_000);
    });
    const ready = Promise.withResolvers<void>();
    child.on("message", (message: NodeMessage) => {
      if (message.type === "ready") ready.resolve();
      else if (message.type === "stray") onStray(message.error);
    });
    child.once("exit", (code) => {
      const error = `${program} ended with ${code}: ${this.#stderr}`;
      if (this.#ended === child) ready.resolve();
      else ready.reject(new Error(error));
      if (code !== null && code !== 0) onStray(error); // it was not killed
    });
    await ready.promise;
  }

  /** What the process holds, after a collection of its garbage. Undefined: it does not run, or does not answer. */
  async stats(): Promise<ProcessStats | undefined> {
    const child = this.#child;
    if (child === undefined || !this.runs) return undefined;
    const { promise, resolve } = Promise.withResolvers<ProcessStats | undefined>();
    const take = (message: NodeMessage): void => {
      if (message.type === "stats") resolve(message.stats);
    };
    child.on("message", take);
    child.send("stats", () => undefined);
    const timer = setTimeout(() => resolve(undefined), 5_000);
    const stats = await promise;
    clearTimeout(timer);
    child.off("message", take);
    return stats;
  }

  /** SIGKILL. Settles when it is gone. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** SIGTERM. Settles when it is gone, which is up to the program. */
  terminate(): Promise<void> {
    return this.#end("SIGTERM");
  }

  /** SIGSTOP. */
  stop(): void {
    if (this.runs) this.#child?.kill("SIGSTOP");
  }

  /** SIGCONT. */
  cont(): void {
    if (this.runs) this.#child?.kill("SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.runs) return;
    const gone = once(child, "exit");
    this.#ended = child;
    child.kill(signal);
    await gone;
  }
}
