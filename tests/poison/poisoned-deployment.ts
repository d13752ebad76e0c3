import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionUid } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { post } from "../kit/deployment/command.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import type { DeploymentOptions } from "../kit/deployment/deployment.ts";
import { until } from "../kit/until.ts";
import { countHits } from "./poison-agent.ts";
import type { Poison } from "./poison-agent.ts";

/** More starts of a worker than any run may take, and fewer than for ever. */
const mostStarts = 9;

/** A deployment with one worker, which is started again whenever a run has killed it. */
export class PoisonedDeployment implements AsyncDisposable {
  readonly #deployment: Deployment;
  readonly #folder: string;
  readonly #over = new AbortController();
  readonly #supervised: Promise<void>;
  #starts = 1;

  private constructor(deployment: Deployment, folder: string) {
    this.#deployment = deployment;
    this.#folder = folder;
    this.#supervised = this.#supervise();
  }

  static async start(
    poison: Omit<Poison, "hits">,
    options: Pick<DeploymentOptions, "programs" | "drives" | "heartbeatMs" | "temporal">,
  ): Promise<PoisonedDeployment> {
    const folder = mkdtempSync(join(tmpdir(), "millrace-poison-"));
    const hits = join(folder, "hits");
    writeFileSync(hits, "");
    const config = { ...poison, hits };
    const nodes = { workers: 1, webs: 1, agent: { chunkMs: 15 } };
    return new PoisonedDeployment(await Deployment.start({ ...options, ...nodes, config }), folder);
  }

  /** How often the model was asked, and the tool called. */
  get hits(): ReturnType<typeof countHits> {
    return countHits(join(this.#folder, "hits"));
  }

  /** Sends a prompt, and resolves with the end of its run. Throws if workers are killed without end. */
  async outlive(text: string): Promise<FactOf<"run_finished">> {
    const { addresses } = this.#deployment;
    const session = "poison";
    const record = await this.#deployment.store.find(session);
    const { uid } = record ?? (await this.#deployment.store.create({ sessionId: session }));
    const before = await this.#endsOf(uid);
    const key = `prompt-${before.length}`;
    await post({ call: "send", key, text }, { session, addresses, patienceMs: 60_000 });
    const hasEnded = async (): Promise<boolean> => {
      if (this.#starts > mostStarts) throw new Error(`${mostStarts} workers were killed`);
      return (await this.#endsOf(uid)).length > before.length;
    };
    await until(hasEnded, "the run ends", { limitMs: 120_000, everyMs: 50 });
    const end = (await this.#endsOf(uid)).at(-1);
    if (end === undefined) throw new Error("there is no end");
    return end;
  }

  async #endsOf(uid: SessionUid): Promise<readonly FactOf<"run_finished">[]> {
    const facts = await this.#deployment.store.read(uid);
    return facts.filter((fact) => fact.type === "run_finished");
  }

  async #supervise(): Promise<void> {
    const [worker] = this.#deployment.workers;
    if (worker === undefined) return;
    const { process } = worker;
    while (!this.#over.signal.aborted) {
      if (!process.runs && this.#starts <= mostStarts) {
        this.#starts += 1;
        await process.start().catch(() => undefined); // killed again before it was ready
      }
      await sleep(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#supervised;
    await this.#deployment[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
