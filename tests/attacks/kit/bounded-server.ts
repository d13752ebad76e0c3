import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Cost } from "./bounded-node.ts";

/** A server in a process of its own, and what requests cost it. */
export class BoundedServer implements Disposable {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /** `turns`: measures each turn of its event loop. */
  static async start(...measured: readonly "turns"[]): Promise<BoundedServer> {
    const child = fork(join(import.meta.dirname, "bounded-node.ts"), measured, {
      execArgv: ["--conditions=@millrace/source", "--no-warnings", "--expose-gc"],
    });
    const [port] = (await once(child, "message")) as [number]; // its first message
    return new BoundedServer(child, port);
  }

  /** What was done since the last call, and then a collection of garbage. */
  async cost(): Promise<Cost> {
    const answer = once(this.#child, "message");
    this.#child.send("cost");
    const [cost] = (await answer) as [Cost]; // it sends nothing else
    return cost;
  }

  /** Asks for its health, in another process, until the returned function is called: it returns what each took. */
  probeHealth(): () => Promise<readonly number[]> {
    const watched = [`${this.port}`, `${this.#child.pid}`];
    const probe = fork(join(import.meta.dirname, "probe-health.ts"), watched);
    return async () => {
      const delays = once(probe, "message");
      probe.send("end");
      return ((await delays) as [readonly number[]])[0]; // its only message
    };
  }

  /** Posts a text as JSON, as a user, and reads the answer. Returns its status. */
  async post(path: string, body: string, user: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${user}`,
        "content-type": "application/json",
        "idempotency-key": `key-0123456789-${user}`,
      },
      body,
    });
    await answer.text();
    return answer.status;
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}
