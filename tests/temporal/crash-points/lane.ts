import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TemporalServer } from "../../../scripts/services/temporal.ts";
import type { NodePrograms } from "../../kit/deployment/bundle.ts";
import { Deployment } from "../../kit/deployment/deployment.ts";
import type { DeployedNode } from "../../kit/deployment/deployment.ts";
import { until } from "../../kit/until.ts";
import { Stations } from "./stations.ts";

/** A step without a sign of its worker for this long is repeated. */
export const heartbeatMs = 2_000;

/** A deployment of two workers and a web node in which one session is killed at a time. */
export class Lane implements AsyncDisposable {
  readonly deployment: Deployment;
  readonly stations: Stations;
  readonly #folder: string;
  #restarted: Promise<unknown> = Promise.resolve();

  private constructor(deployment: Deployment, folder: string) {
    this.deployment = deployment;
    this.stations = new Stations(folder);
    this.#folder = folder;
  }

  /** Lanes share Temporal, and have all other servers of their own. */
  static async start(programs: NodePrograms, temporal: TemporalServer): Promise<Lane> {
    const folder = mkdtempSync(join(tmpdir(), "millrace-stations-"));
    const deployment = await Deployment.start({
      programs,
      temporal,
      drives: "temporal",
      workers: 2,
      webs: 1,
      agent: { chunkMs: 12 },
      clocks: [0, 0, 0],
      heartbeatMs,
      config: { stations: folder },
    });
    return new Lane(deployment, folder);
  }

  /** The address of its web node. */
  get url(): string {
    return this.deployment.addresses[0] ?? "";
  }

  /** Waits until a process was killed at the session's station, and starts it again. Resolves once it is gone. */
  async awaitKill(uid: string): Promise<"worker" | "web node"> {
    const { nodes, webs } = this.deployment;
    await until(() => this.stations.isReached(uid), `${uid} reaches its station`);
    const findKilled = (): DeployedNode | undefined => nodes.find(({ process }) => !process.runs);
    await until(() => findKilled() !== undefined, "the process is gone");
    const killed = findKilled();
    this.restart();
    return webs.some((web) => web === killed) ? "web node" : "worker";
  }

  /** Starts the processes that were killed. */
  restart(): void {
    const { nodes } = this.deployment;
    this.#restarted = Promise.all(nodes.map(({ process }) => process.start()));
  }

  /** Makes ready for the next session: all processes have started, and all clocks are right. */
  async settle(): Promise<void> {
    const { nodes } = this.deployment;
    for (const { clock } of nodes) clock?.set(0);
    await this.#restarted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.deployment[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
