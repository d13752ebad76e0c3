import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** A server of sessions in a process of its own, which can be killed and started again on its port. */
export class TestServer implements AsyncDisposable {
  readonly url: string;
  readonly #folder: string;
  readonly #script: string;
  #child: ChildProcess;

  private constructor(folder: string, script: string, url: string, child: ChildProcess) {
    this.#folder = folder;
    this.#script = script;
    this.url = url;
    this.#child = child;
  }

  static async open(folder: string, script: string): Promise<TestServer> {
    const { child, url } = await start("0", folder, script);
    return new TestServer(folder, script, url, child);
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  async restart(): Promise<void> {
    const { child } = await start(new URL(this.url).port, this.#folder, this.#script);
    this.#child = child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
  }
}

async function start(
  port: string,
  folder: string,
  script: string,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const file = new URL("server.ts", import.meta.url).pathname;
  const words = ["--conditions=@millrace/source", file, port, folder, script];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"] });
  const [output] = (await once(child.stdout, "data")) as [Buffer]; // a stream of bytes
  return { child, url: output.toString().trim() };
}
