import type { Fact, SessionUid } from "@millrace/core";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { freePort } from "../../../scripts/services/server.ts";
import type { NodePrograms } from "../../kit/deployment/bundle.ts";
import { post } from "../../kit/deployment/command.ts";
import type { Command } from "../../kit/deployment/command.ts";
import { isRunOver } from "../../kit/deployment/is-run-over.ts";
import { NodeProcess } from "../../kit/deployment/node-process.ts";
import { inParallel } from "../../kit/in-parallel.ts";
import { until } from "../../kit/until.ts";
import type { Servers } from "../cluster.ts";
import { textOfAsk } from "./ask.ts";
import type { Ask } from "./ask.ts";
import { LoadReader } from "./load-reader.ts";

export interface SideOptions {
  readonly servers: Servers;
  readonly programs: NodePrograms;
  /** Of its database and its task queue. */
  readonly name: string;
  /** For workers of Temporal. */
  readonly heartbeatMs?: number | undefined;
  readonly steps?: number | undefined;
  readonly windowMs?: number | undefined;
}

/** A session with one run. */
export interface LoadRun {
  readonly uid: SessionUid;
  readonly sessionId: string;
  /** When its prompt was sent, in milliseconds since 1970. */
  readonly sentAt: number;
  readonly reader: LoadReader;
}

const patienceMs = 120_000;
const stopsAtOnce = 10;

/** One worker and one web node, on a database of their own. No proxies: they would take a core. */
export class Side implements AsyncDisposable {
  readonly name: string;
  readonly store: PostgresStore;
  readonly worker: NodeProcess;
  readonly web: NodeProcess;
  readonly addresses: readonly string[];
  /** Errors that a process left to nobody. */
  readonly strays: string[] = [];
  readonly #metricsPort: number;
  #begun = 0;

  private constructor(
    { servers, programs, name, heartbeatMs = 20_000, steps = 500, windowMs }: SideOptions,
    [webPort, metricsPort]: readonly [number, number],
  ) {
    const { temporal, redis, postgres: server } = servers;
    const postgres = server.urlOf(name);
    this.name = name;
    this.store = postgresStore({ url: postgres });
    this.addresses = [`http://127.0.0.1:${webPort}`];
    this.#metricsPort = metricsPort;
    const { workflows } = programs;
    const way = { temporal: { address: temporal.url, taskQueue: name }, workflows, heartbeatMs };
    const ports = { postgres, redis: redis.url, ...way };
    const onStray = (error: string): void => void this.strays.push(`${name}: ${error}`);
    const worker = { ...ports, steps, metricsPort, windowMs };
    this.worker = new NodeProcess({ program: programs.worker, config: worker, onStray });
    const web = { ...ports, port: webPort };
    this.web = new NodeProcess({ program: programs.web, config: web, onStray });
  }

  static async start(options: SideOptions): Promise<Side> {
    const { servers, name } = options;
    await servers.postgres.query(`create database ${name}`);
    const side = new Side(options, [await freePort(), await freePort()]);
    await side.store.migrate();
    await Promise.all([side.worker.start(), side.web.start()]);
    return side;
  }

  /** Starts so many runs at once, each in a session of its own with a reader: a lane without one is written less often. */
  async begin(count: number, ask: Ask): Promise<readonly LoadRun[]> {
    const prepared = await Promise.all(Array.from({ length: count }, () => this.#prepare()));
    const text = textOfAsk(ask);
    return await Promise.all(
      prepared.map(async (session) => {
        const sentAt = Date.now();
        await this.#post(session.sessionId, { call: "send", key: "prompt", text });
        return { ...session, sentAt };
      }),
    );
  }

  /** Waits until all of them stream. False: some do not, after two minutes. */
  async stream(runs: readonly LoadRun[]): Promise<boolean> {
    const all = (): boolean => runs.every(({ reader }) => reader.streamsAt !== undefined);
    return await until(all, "all runs stream", { limitMs: patienceMs, everyMs: 50 }).then(
      () => true,
      () => false,
    );
  }

  /** Stops them, some at a time: a person whose stop is not answered soon repeats it, which adds to the load. */
  async stop(runs: readonly LoadRun[]): Promise<void> {
    const stops = runs.map(
      ({ sessionId }) =>
        () =>
          this.#post(sessionId, { call: "abort", key: "stop" }),
    );
    await inParallel(stops, stopsAtOnce);
  }

  /** The facts of each run, once all have ended. Their readers leave. */
  async ended(runs: readonly LoadRun[], limitMs = patienceMs): Promise<readonly Fact[][]> {
    const all: Fact[][] = [];
    const end = performance.now() + limitMs;
    // They end at about the same time: while one is waited for, the others are not read.
    for (const { uid, reader } of runs) {
      let facts: readonly Fact[] = [];
      const isOver = async (): Promise<boolean> => {
        facts = await this.store.read(uid);
        return isRunOver(facts);
      };
      const left = Math.max(1, end - performance.now());
      await until(isOver, `${this.name}: the run ends`, { limitMs: left, everyMs: 100 });
      reader[Symbol.dispose]();
      all.push([...facts]);
    }
    return all;
  }

  /** How many of them have a transcript that is as it was written. */
  async verified(runs: readonly LoadRun[]): Promise<number> {
    const verdicts = await Promise.all(runs.map(({ sessionId }) => this.store.verify(sessionId)));
    return verdicts.filter(({ ok }) => ok).length;
  }

  /** How many requests of a sort its worker has made to Temporal. */
  async requests(operation: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`);
    const lines = (await answer.text()).split("\n");
    const counts = lines.filter(
      (line) =>
        /^temporal_(long_)?request(_total)?\{/.test(line) && line.includes(`"${operation}"`),
    );
    return counts.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.worker.kill(), this.web.kill()]);
    await this.store[Symbol.asyncDispose]();
  }

  async #prepare(): Promise<Omit<LoadRun, "sentAt">> {
    this.#begun += 1;
    const { uid, sessionId } = await this.store.create({ sessionId: `load-${this.#begun}` });
    const reader = await LoadReader.open(`${this.addresses[0]}/${sessionId}`);
    return { uid, sessionId, reader };
  }

  async #post(session: string, command: Command): Promise<void> {
    const { addresses } = this;
    const posted = { ...command, key: `${session}-${command.key}` };
    const answer = await post(posted, { session, addresses, patienceMs });
    if (answer?.accepted !== true) throw new Error(`no ${command.call}: ${JSON.stringify(answer)}`);
  }
}
