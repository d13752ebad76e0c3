import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fact } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { postgresStore } from "@millrace/stores/postgres";
import { freePort } from "../../../scripts/services/server.ts";
import { sharedPostgres, sharedRedis } from "../../../scripts/services/shared.ts";
import { bundleProgram } from "../../kit/deployment/bundle.ts";
import { NodeProcess } from "../../kit/deployment/node-process.ts";
import type { PacedAgentOptions } from "../../kit/deployment/paced-agent.ts";

export interface FleetOptions {
  readonly nodes: number;
  readonly drive: boolean;
  /** The pause before each chunk of a reply. */
  readonly chunkMs: number;
  /** Of `millrace.close`. */
  readonly drainSeconds: number;
  /** A Redis of the test's own, for one that harms it. Left out: the shared one. */
  readonly redis?: { readonly url: string; readonly prefix: string } | undefined;
  /** The page at `/`, as HTML. The routes are below `/agent` too then, and the cookie `user` names the user. */
  readonly page?: string | undefined;
  /** Processes that do nothing but drive. They are not started yet. */
  readonly workers?: number | undefined;
}

/** The argument of a node's program. */
export interface ServedNodeConfig
  extends PacedAgentOptions, Omit<FleetOptions, "nodes" | "redis" | "workers"> {
  readonly postgres: string;
  readonly redis: string;
  readonly prefix: string;
  readonly port: number;
  /** The file of the page. */
  readonly page?: string | undefined;
  /** A file with a line for each reading of a session's facts for a request: node and uid. */
  readonly reads: string;
}

export interface FleetNode {
  readonly name: string;
  readonly url: string;
  readonly process: NodeProcess;
}

/** Nodes of one application on the web, over one PostgreSQL and one Redis. */
export class Fleet implements AsyncDisposable {
  readonly nodes: readonly FleetNode[];
  readonly workers: readonly NodeProcess[];
  /** The test's own way to the sessions of the nodes' tenant. */
  readonly store: SessionStore;
  /** Errors that a process left to nobody. */
  readonly strays: string[];
  readonly #folder: string;
  readonly #resources: AsyncDisposableStack;

  private constructor(made: Pick<Fleet, "nodes" | "workers" | "store" | "strays">, folder: string) {
    this.nodes = made.nodes;
    this.workers = made.workers;
    this.store = made.store;
    this.strays = made.strays;
    this.#folder = folder;
    this.#resources = new AsyncDisposableStack();
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    const { nodes: count, redis: own, page: html, workers: idle = 0, ...ofAll } = options;
    const folder = mkdtempSync(join(tmpdir(), "millrace-fleet-"));
    const bundle = (name: string): Promise<string> =>
      bundleProgram(new URL(`./${name}.ts`, import.meta.url), join(folder, `${name}.mjs`));
    const program = await bundle("served-node");
    const page = html === undefined ? undefined : join(folder, "page.html");
    if (page !== undefined) writeFileSync(page, html ?? "");
    const [database, redis] = await Promise.all([sharedPostgres(), own ?? sharedRedis()]);
    const all = postgresStore({ url: database.url, acrossTenants: true });
    await all.migrate();
    const [effects, reads] = [join(folder, "effects"), join(folder, "reads")];
    writeFileSync(reads, "");
    const strays: string[] = [];
    const places = { postgres: database.url, redis: redis.url, prefix: redis.prefix };
    const common = { ...ofAll, ...places, effects, reads, page };
    const make = (name: string, file: string, port: number): NodeProcess => {
      const config: ServedNodeConfig = { ...common, name, port };
      const onStray = (error: string): number => strays.push(`${name}: ${error}`);
      return new NodeProcess({ program: file, config, onStray });
    };
    const nodes: FleetNode[] = [];
    for (let at = 0; at < count; at += 1) {
      const [name, port] = [`node-${at}`, await freePort()];
      const process = make(name, program, port);
      nodes.push({ name, url: `http://127.0.0.1:${port}`, process });
    }
    const pool = idle === 0 ? "" : await bundle("pool-node");
    const workers = Array.from({ length: idle }, (_, at) => make(`worker-${at}`, pool, 0));
    const fleet = new Fleet({ nodes, workers, store: all.forTenant("web"), strays }, folder);
    fleet.#resources.use(database);
    fleet.#resources.use(all);
    await Promise.all(nodes.map(({ process }) => process.start()));
    return fleet;
  }

  /** The node of this number. There is one. */
  node(at: number): FleetNode {
    return this.nodes[at] as FleetNode;
  }

  /** What is stored of a session. */
  async facts(session: string): Promise<readonly Fact[]> {
    const record = await this.store.find(session);
    if (record === undefined) throw new Error(`there is no session ${session}`);
    return await this.store.read(record.uid);
  }

  /** How often a node has read the facts of each session for its requests, by uid. */
  reads(node: FleetNode): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const line of readFileSync(join(this.#folder, "reads"), "utf8").split("\n")) {
      const [name, uid = ""] = line.split(" ");
      if (name === node.name) counts.set(uid, (counts.get(uid) ?? 0) + 1);
    }
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const processes = [...this.nodes.map(({ process }) => process), ...this.workers];
    await Promise.all(processes.map((process) => process[Symbol.asyncDispose]()));
    await this.#resources.disposeAsync();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
