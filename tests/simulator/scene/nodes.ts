/** Web nodes and workers as processes that start, crash, stop and start again. */
import { createWorker } from "@millrace/agent/worker";
import { systemClock } from "@millrace/core/memory";
import { agUi } from "@millrace/dialects/ag-ui";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { openai } from "@millrace/dialects/openai";
import { createMillrace } from "@millrace/server";
import type { Report } from "../judge/report.ts";
import type { HttpHost } from "../world/http-network.ts";
import type { HttpNetwork } from "../world/http-network.ts";
import { SimulatedProcess } from "../world/simulated-process.ts";
import { simulation } from "../world/simulation.ts";
import { sceneAgent } from "./agent.ts";
import type { Engines } from "./engines.ts";
import type { WorldLedger } from "./ledger.ts";
import { userOf, webHosts, workerHosts } from "./plan.ts";

/** How long a node may take to end, and how long it takes itself. */
const [stopMs, drainMs] = [5_000, 4_000];

interface Node {
  readonly process: SimulatedProcess;
  handle?: HttpHost["handle"];
  shutdown?: () => Promise<void>;
  isStopping: boolean;
}

export interface NodesOptions {
  readonly engines: Engines;
  readonly ledger: WorldLedger;
  /** To the vendor. */
  readonly network: HttpNetwork;
  readonly report: Report;
}

/** Limits are tested elsewhere: here they would only hide what faults do. */
const unlimited = Object.fromEntries(
  [
    "requestsPerUser",
    "requestsPerTenant",
    "creationsPerUser",
    "inputsPerUser",
    "abortsPerUser",
    "notFoundPerUser",
    "streamsPerUser",
    "viewersPerSession",
    "runsPerUser",
    "runsPerTenant",
  ].map((name) => [name, 1e9]),
);

export class Nodes {
  readonly #options: NodesOptions;
  readonly #nodes = new Map<string, Node>();
  readonly #lives = new Map<string, number>();

  constructor(options: NodesOptions) {
    this.#options = options;
    for (const host of [...webHosts, ...workerHosts]) this.start(host);
  }

  /** The web nodes that a load balancer chooses from. */
  readonly web = (): readonly HttpHost[] =>
    webHosts.flatMap((host) => {
      const { process, handle, isStopping } = this.#node(host);
      return process.isAlive && handle !== undefined && !isStopping ? [{ process, handle }] : [];
    });

  process(host: string): SimulatedProcess {
    return this.#node(host).process;
  }

  start(host: string): void {
    const life = (this.#lives.get(host) ?? 0) + 1;
    this.#lives.set(host, life);
    const node: Node = {
      process: new SimulatedProcess(host, life, simulation().seed),
      isStopping: false,
    };
    this.#nodes.set(host, node);
    const begin = host.startsWith("web") ? this.#startWeb : this.#startWorker;
    simulation().schedule(0, node.process, "starts", () => begin(node));
  }

  /** As SIGTERM: the node ends by itself, or is killed some seconds later. */
  stop(host: string): void {
    const node = this.#node(host);
    node.isStopping = true;
    node.process.run(() => void node.shutdown?.());
    const end = (): void => simulation().kill(node.process);
    simulation().schedule(stopMs, simulation().harness, `ends ${host}`, end);
  }

  /** Everything that was killed, stopped or paused goes on. */
  healAll(): void {
    for (const [host, { process, isStopping }] of this.#nodes) {
      if (process.isPaused) simulation().resume(process);
      process.skewMs = 0;
      if (isStopping && process.isAlive) simulation().kill(process);
      if (!process.isAlive) this.start(host);
    }
  }

  killAll(): void {
    for (const { process } of this.#nodes.values()) simulation().kill(process);
  }

  #node(host: string): Node {
    const node = this.#nodes.get(host);
    if (node === undefined) throw new Error(`there is no node ${host}`);
    return node;
  }

  readonly #startWeb = (node: Node): void => {
    const { engines, ledger, network } = this.#options;
    const { store, log } = engines.portsOf(node.process);
    const server = createMillrace({
      agent: sceneAgent({ ledger, network }),
      store,
      log,
      driver: false,
      dialects: [agUi(), aiSdk(), openai()],
      secret: "a secret that all simulated nodes share, of enough bytes",
      authenticate: ({ headers }) => {
        const [, host] = /^Bearer (\w+)$/.exec(headers.get("authorization") ?? "") ?? [];
        return host === undefined ? undefined : { tenant: "default", user: userOf(host) };
      },
      limits: unlimited,
      streams: { heartbeatMs: 4_000 },
    });
    node.handle = (request) => server.fetch(request);
    node.shutdown = () => server.close({ drainMs });
  };

  readonly #startWorker = (node: Node): void => {
    const { engines, ledger, network, report } = this.#options;
    const { store, log } = engines.portsOf(node.process);
    const agent = sceneAgent({ ledger, network });
    const clock = { ...systemClock };
    const work = async (): Promise<void> => {
      const worker = await createWorker({ agent, store, log, clock, capacity: 100, drainMs });
      node.shutdown = () => worker.shutdown();
      await worker.run();
    };
    work().catch((error: unknown) => report.add("worker-lives", String(error)));
  };
}
