import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { Plan } from "./plan.ts";

/** The longest wait for anything, also on a busy machine. */
const patienceMs = 60_000;

/** The program of the children in one file: they live for a moment, and would spend it on loading. */
export async function bundleChild(folder: string): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL("../child.ts", import.meta.url)),
    platform: "node",
    external: ["pg-native", "pg-cloudflare"],
    resolve: { conditionNames: ["@millrace/source", "node"] },
    logLevel: "silent",
  });
  const file = join(folder, "child.mjs");
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
  return file;
}

/** A process that writes, as its test sees it. */
export class Process implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #gone: Promise<readonly [number | null, string | null]>;
  #stderr = "";
  #isGone = false;
  #read = 0;

  constructor(program: string, plan: Plan) {
    this.#child = spawn(process.execPath, ["--no-warnings", program, JSON.stringify(plan)], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { NODE_COMPILE_CACHE: `${program}.cache` },
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.lines.push(line));
    this.#child.stderr.on("data", (text: Buffer) => (this.#stderr += text.toString()));
    this.#child.stdin.on("error", () => undefined); // the process may have ended
    this.#gone = once(this.#child, "close").then((ended) => {
      this.#isGone = true;
      return ended as [number | null, string | null];
    });
  }

  send(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** The next line that begins so. Lines before it are passed over. */
  async waitForLine(beginning: string): Promise<string> {
    const end = performance.now() + patienceMs;
    for (;;) {
      const line = this.lines[this.#read];
      if (line !== undefined) this.#read += 1;
      if (line?.startsWith(beginning) === true) return line;
      if (line !== undefined) continue;
      if (this.#isGone || performance.now() > end)
        throw new Error(`it does not say "${beginning}": ${this.#account()}`);
      await sleep(2);
    }
  }

  /** Resolves when the kernel has stopped it. */
  async stopped(): Promise<void> {
    const end = performance.now() + patienceMs;
    for (;;) {
      const stat = await readFile(`/proc/${this.#child.pid}/stat`, "utf8");
      // Its name is in brackets; its state follows.
      if (stat.slice(stat.lastIndexOf(")") + 2).startsWith("T")) return;
      if (performance.now() > end) throw new Error(`it is not stopped: ${this.#account()}`);
      await sleep(2);
    }
  }

  wake(): void {
    this.#child.kill("SIGCONT");
  }

  /** Resolves when it is gone, with the signal that ended it. Throws if it failed by itself. */
  async gone(): Promise<string | null> {
    const timer = AbortSignal.timeout(patienceMs);
    const late = new Promise<never>((_, reject) => {
      timer.addEventListener("abort", () =>
        reject(new Error(`it does not end: ${this.#account()}`)),
      );
    });
    const [code, signal] = await Promise.race([this.#gone, late]);
    if (code !== 0 && signal === null) throw new Error(`it ended with ${code}: ${this.#account()}`);
    return signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#gone;
  }

  #account(): string {
    return `${this.lines.slice(-5).join(" | ")}\n${this.#stderr}`;
  }
}
