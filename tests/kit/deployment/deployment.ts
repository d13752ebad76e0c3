import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { startPostgres } from "../../../scripts/services/postgres.ts";
import type { PostgresServer } from "../../../scripts/services/postgres.ts";
import { startRedis } from "../../../scripts/services/redis.ts";
import { freePort } from "../../../scripts/services/server.ts";
import type { Server } from "../../../scripts/services/server.ts";
import { startTemporal } from "../../../scripts/services/temporal.ts";
import type { TemporalServer } from "../../../scripts/services/temporal.ts";
import type { NodePrograms } from "./bundle.ts";
import { makeFakeClock } from "./fake-clock.ts";
import type { FakeClock } from "./fake-clock.ts";
import { NodeProcess } from "./node-process.ts";
import { openOutageProxy } from "./outage-proxy.ts";
import type { OutageProxy } from "./outage-proxy.ts";
import type { Effect, PacedAgentOptions } from "./paced-agent.ts";

/**
 * How a worker finds its sessions: `pool` by `createWorker`, `open` by `agent.open` of each, `temporal` by
 * the workflows that web nodes wake, with programs of `bundleTemporalNodes`. `inline`: web nodes drive them.
 */
export type Drives = "pool" | "open" | "temporal" | "inline";

/** The argument of a worker's program. */
export interface WorkerConfig extends PacedAgentOptions {
  readonly postgres: string;
  readonly redis: string;
  readonly drives: Drives;
}

/** The argument of a web node's program. Its agent drives only where web nodes do. */
export interface WebConfig extends PacedAgentOptions {
  readonly drives: Drives;
  readonly postgres: string;
  readonly redis: string;
  readonly port: number;
}

/** A process of a deployment with its own ways to the servers, and its own wall clock. */
export interface DeployedNode {
  readonly name: string;
  readonly process: NodeProcess;
  readonly redis: OutageProxy;
  readonly postgres: OutageProxy;
  /** Where Temporal drives. */
  readonly temporal: OutageProxy | undefined;
  readonly clock: FakeClock | undefined;
}

export interface DeploymentOptions {
  readonly programs: NodePrograms;
  readonly workers: number;
  readonly webs: number;
  readonly drives: Drives;
  readonly agent: Omit<PacedAgentOptions, "name" | "effects">;
  /** How many seconds each node's wall clock is ahead, in the order of workers, then web nodes. */
  readonly clocks?: readonly number[] | undefined;
  /** A Temporal server that other deployments of the test use too. Left out: one of its own. */
  readonly temporal?: TemporalServer | undefined;
  /** After this time without a sign of its worker, Temporal repeats a step. 2,000 ms by default. */
  readonly heartbeatMs?: number | undefined;
  /** How long a worker of Temporal that is terminated waits for its steps. 30,000 ms by default. */
  readonly drainMs?: number | undefined;
  /** Further fields of the argument of every program. */
  readonly config?: object | undefined;
}

/** A Redis, a PostgreSQL, and processes that work on them, each behind proxies of its own. */
export class Deployment implements AsyncDisposable {
  readonly redis: Server;
  readonly postgres: PostgresServer;
  /** Where Temporal drives. */
  readonly temporal: TemporalServer | undefined;
  /** The task queue of its workers in Temporal. */
  readonly taskQueue: string;
  /** The test's own way to the facts. */
  readonly store: PostgresStore;
  readonly workers: DeployedNode[] = [];
  readonly webs: DeployedNode[] = [];
  readonly addresses: string[] = [];
  /** Errors that a process left to nobody. */
  readonly strays: string[] = [];
  readonly #options: DeploymentOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), "millrace-deployment-"));
  readonly #resources = new AsyncDisposableStack();

  private constructor(
    options: DeploymentOptions,
    { redis, postgres, temporal }: Pick<Deployment, "redis" | "postgres" | "temporal">,
  ) {
    this.#options = options;
    this.redis = this.#resources.use(redis);
    this.postgres = this.#resources.use(postgres);
    this.temporal = temporal;
    if (temporal !== options.temporal) this.#resources.use(temporal);
    this.taskQueue = basename(this.#folder);
    this.store = this.#resources.use(postgresStore({ url: postgres.url }));
    writeFileSync(this.effectsFile, "");
  }

  static async start(options: DeploymentOptions): Promise<Deployment> {
    const { drives, temporal: given } = options;
    const [redis, postgres, temporal] = await Promise.all([
      startRedis(),
      startPostgres(),
      drives === "temporal" ? (given ?? startTemporal()) : undefined,
    ]);
    const deployment = new Deployment(options, { redis, postgres, temporal });
    await deployment.store.migrate();
    await deployment.#startNodes();
    return deployment;
  }

  get nodes(): readonly DeployedNode[] {
    return [...this.workers, ...this.webs];
  }

  /** Starts one more worker. */
  async addWorker(agent: DeploymentOptions["agent"]): Promise<void> {
    await (await this.#makeWorker(agent)).process.start();
  }

  /** What tools did so far. */
  effects(): readonly Effect[] {
    const lines = readFileSync(this.effectsFile, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Effect);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.process[Symbol.asyncDispose]()));
    await this.#resources.disposeAsync();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** The file to which tools append what they did. */
  get effectsFile(): string {
    return join(this.#folder, "effects.jsonl");
  }

  async #startNodes(): Promise<void> {
    const { workers, webs, programs, agent, drives } = this.#options;
    for (let at = 0; at < workers; at += 1) await this.#makeWorker(agent);
    for (let at = 0; at < webs; at += 1) {
      const [name, port] = [`web-${at}`, await freePort()];
      const config = { name, port, drives, effects: this.effectsFile, ...agent };
      this.webs.push(await this.#makeNode(name, programs.web, config));
      this.addresses.push(`http://127.0.0.1:${port}`);
    }
    await Promise.all(this.nodes.map((node) => node.process.start()));
  }

  async #makeWorker(agent: DeploymentOptions["agent"]): Promise<DeployedNode> {
    const { programs, drives, heartbeatMs = 2_000, drainMs } = this.#options;
    const { workflows } = programs;
    const name = `worker-${this.workers.length}`;
    const config = {
      name,
      effects: this.effectsFile,
      drives,
      workflows,
      heartbeatMs,
      drainMs,
      ...agent,
    };
    const worker = await this.#makeNode(name, programs.worker, config);
    this.workers.push(worker);
    return worker;
  }

  async #makeNode(name: string, program: string, config: object): Promise<DeployedNode> {
    const seconds = this.#options.clocks?.[this.nodes.length];
    const clock =
      seconds === undefined
        ? undefined
        : makeFakeClock(join(this.#folder, `${name}.time`), seconds);
    const redis = this.#resources.use(await openOutageProxy(this.redis.url));
    const postgres = this.#resources.use(await openOutageProxy(this.postgres.url));
    const temporal = await this.#wayToTemporal();
    const process = new NodeProcess({
      program,
      config: {
        postgres: postgres.url,
        redis: redis.url,
        temporal: temporal?.config,
        ...this.#options.config,
        ...config,
      },
      environment: clock?.environment,
      onStray: (error) => this.strays.push(`${name}: ${error}`),
    });
    return { name, process, redis, postgres, temporal: temporal?.proxy, clock };
  }

  async #wayToTemporal() {
    if (this.temporal === undefined) return undefined;
    const proxy = this.#resources.use(await openOutageProxy(`http://${this.temporal.url}`));
    return { proxy, config: { address: new URL(proxy.url).host, taskQueue: this.taskQueue } };
  }
}
