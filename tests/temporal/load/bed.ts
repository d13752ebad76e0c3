import { processorSeconds } from "../../kit/processor-seconds.ts";
import { bundleNodes } from "../../kit/deployment/bundle.ts";
import type { NodePrograms } from "../../kit/deployment/bundle.ts";
import { bundleTemporalNodes } from "../../kit/deployment/bundle-temporal.ts";
import { until } from "../../kit/until.ts";
import { startServers } from "../cluster.ts";
import type { Servers } from "../cluster.ts";
import { Side } from "./side.ts";
import { machineSeconds, testSeconds } from "./spent.ts";
import type { Spent } from "./spent.ts";

/** Real servers, a worker that Temporal drives, and one that drives by itself, for comparison. */
export class Bed implements AsyncDisposable {
  readonly servers: Servers;
  readonly inline: Side;
  readonly temporal: Side;
  readonly #programs: NodePrograms;
  readonly #resources: AsyncDisposableStack;

  private constructor(
    parts: Pick<Bed, "servers" | "inline" | "temporal">,
    programs: NodePrograms,
    resources: AsyncDisposableStack,
  ) {
    this.servers = parts.servers;
    this.inline = parts.inline;
    this.temporal = parts.temporal;
    this.#programs = programs;
    this.#resources = resources;
  }

  /** `windowMs` is how long lanes gather deltas. Left out: by the load, which differs between workers. */
  static async start({ windowMs }: { readonly windowMs?: number | undefined }): Promise<Bed> {
    await using started = new AsyncDisposableStack();
    const [own, theirs, servers] = await Promise.all([
      bundleNodes(new URL("./inline-node.ts", import.meta.url)).then((all) => started.use(all)),
      bundleTemporalNodes({ worker: new URL("./temporal-node.ts", import.meta.url) }).then((all) =>
        started.use(all),
      ),
      startServers().then((all) => started.use(all)),
    ]);
    const inline = started.use(
      await Side.start({ servers, programs: own, name: "inline", windowMs }),
    );
    const options = { servers, programs: theirs, name: "temporal_side", steps: 5_000, windowMs };
    const temporal = started.use(await Side.start(options));
    return new Bed({ servers, inline, temporal }, theirs, started.move());
  }

  /** One more worker of Temporal, with its own web node and task queue. */
  async addSide(name: string, heartbeatMs: number): Promise<Side> {
    const { servers } = this;
    const options = { servers, programs: this.#programs, name, heartbeatMs };
    return this.#resources.use(await Side.start(options));
  }

  spent(side: Side): Spent {
    const { temporal, postgres, redis } = this.servers;
    return {
      worker: processorSeconds(side.worker.pid),
      web: processorSeconds(side.web.pid),
      server: processorSeconds(temporal.pid),
      database: processorSeconds(temporal.postgres.pid),
      store: processorSeconds(postgres.pid),
      redis: processorSeconds(redis.pid),
      test: testSeconds(),
      machine: machineSeconds(),
    };
  }

  /** Settles when no session has a workflow: what follows the last fact of a run is done. */
  async rest(): Promise<void> {
    const { postgres } = this.servers.temporal;
    const sql =
      "select count(*) from current_executions where workflow_id like 'session:%' and state <> 3";
    const isDone = async (): Promise<boolean> => (await postgres.query(sql, "temporal")) === "0";
    await until(isDone, "all workflows end", { everyMs: 100 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}
