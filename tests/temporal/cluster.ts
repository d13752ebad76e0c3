/** Servers, workers and people for tests of sessions that Temporal drives. */
import { Client, Connection } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import type { LogEntry } from "@temporalio/worker";
import { createInbox } from "@millrace/core";
import type { Fact, Inbox, SessionUid } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { randomId } from "@millrace/core/memory";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { createWorker } from "@millrace/temporal/worker";
import type { TemporalWorker, TemporalWorkerOptions } from "@millrace/temporal/worker";
import { type PostgresServer, startPostgres } from "../../scripts/services/postgres.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import type { Server } from "../../scripts/services/server.ts";
import { type TemporalOptions, startTemporal } from "../../scripts/services/temporal.ts";
import type { TemporalServer } from "../../scripts/services/temporal.ts";
import { until } from "../kit/until.ts";
import { bundleWorkflow } from "../workflow/bundle.ts";

/** The servers of a deployment. */
export interface Servers extends AsyncDisposable {
  readonly temporal: TemporalServer;
  readonly redis: Server;
  readonly postgres: PostgresServer;
}

/** One process's connections to them. */
export interface Cluster extends AsyncDisposable {
  readonly client: Client;
  readonly store: ReturnType<typeof postgresStore>;
  readonly log: ReturnType<typeof redisLog>;
  /** Starts a worker. It ends with the cluster, if not before. */
  readonly work: (
    options: Pick<TemporalWorkerOptions, "agent"> & Partial<TemporalWorkerOptions>,
  ) => Promise<TemporalWorker>;
  /** Creates the session, or finds it. */
  readonly talk: (sessionId: string) => Promise<Talk>;
}

/** A person who talks to a session, and looks at its facts. */
export interface Talk {
  readonly uid: SessionUid;
  readonly inbox: Inbox;
  readonly handle: WorkflowHandle;
  /** Tells the session's workflow that facts have come, and starts it if there is none. */
  readonly wake: () => Promise<void>;
  readonly send: (text: string) => Promise<void>;
  readonly facts: () => Promise<readonly Fact[]>;
  /** Waits for a fact of this type, and returns it. */
  readonly fact: <Type extends Fact["type"]>(type: Type) => Promise<FactOf<Type>>;
}

const workflows = "packages/temporal/src/workflow/index.ts";
/** A name that says nothing about the machine: histories are recorded. */
const identity = "millrace";
/** Long enough for a machine that does much else. */
const limitMs = 120_000;

/** Keeps what Temporal's SDK reports of its own doings out of the output. `onEntry` gets all of it instead. */
export function quiet(onEntry?: (entry: LogEntry) => void): void {
  if (!isQuiet) {
    const filter = onEntry === undefined ? "ERROR" : "DEBUG";
    const forward = onEntry === undefined ? {} : { forward: {} };
    Runtime.install({
      logger: new DefaultLogger(filter, onEntry),
      telemetryOptions: { logging: { filter, ...forward } },
    });
  }
  isQuiet = true;
}
let isQuiet = false;

let bundled: Promise<{ readonly code: string; readonly sourceMap: string }> | undefined;

/** The workflows as a worker runs them, bundled once in a process. */
export function bundleOfWorkflows(): Promise<{
  readonly code: string;
  readonly sourceMap: string;
}> {
  bundled ??= bundleWorkflow(workflows).then(({ code }) => ({ code, sourceMap: "{}" }));
  return bundled;
}

export async function startServers(options: TemporalOptions = {}): Promise<Servers> {
  await using started = new AsyncDisposableStack();
  const [temporal, redis, postgres] = await Promise.all([
    startTemporal(options).then((server) => started.use(server)),
    startRedis().then((server) => started.use(server)),
    startPostgres().then((server) => started.use(server)),
  ]);
  const kept = started.move();
  return { temporal, redis, postgres, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Connects this process to the servers. */
export async function connectTo({ temporal, redis, postgres }: Servers): Promise<Cluster> {
  quiet();
  await using started = new AsyncDisposableStack();
  const store = started.use(postgresStore({ url: postgres.url }));
  await store.migrate();
  const log = started.use(redisLog({ url: redis.url }));
  const connection = await Connection.connect({ address: temporal.url });
  started.defer(() => connection.close());
  const client = new Client({ connection, identity });
  const ports = { store, log, address: temporal.url };
  const kept = started.move();
  return {
    client,
    store,
    log,
    work: async (options) => {
      const bundle = options.workflows === false ? false : await bundleOfWorkflows();
      const sdk = { identity, ...options.sdk };
      const worker = await createWorker({ ...ports, workflows: bundle, ...options, sdk });
      const running = worker.run();
      running.catch(() => undefined); // awaited when it is shut down
      kept.defer(async () => {
        await worker.shutdown();
        await running;
      });
      return worker;
    },
    talk: async (sessionId) => {
      const record = (await store.find(sessionId)) ?? (await store.create({ sessionId }));
      return talkTo({ client, store, log }, record);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function talkTo(
  { client, store, log }: Pick<Cluster, "client" | "store" | "log">,
  { uid, sessionId }: { readonly uid: SessionUid; readonly sessionId: string },
): Talk {
  const inbox = createInbox({ uid, store, log, makeId: randomId });
  const workflowId = `session:${uid}`;
  const facts = (): Promise<readonly Fact[]> => store.read(uid);
  const wake = async (): Promise<void> => {
    const head = (await facts()).at(-1)?.n ?? 0;
    await client.workflow.signalWithStart("agentWorkflow", {
      workflowId,
      taskQueue: "millrace",
      args: [{ uid, sessionId }],
      signal: "said",
      signalArgs: [head],
    });
  };
  return {
    uid,
    inbox,
    handle: client.workflow.getHandle(workflowId),
    wake,
    send: async (text) => {
      await inbox.send(text);
      await wake();
    },
    facts,
    fact: async (type) => {
      type Wanted = FactOf<typeof type>;
      const isWanted = (fact: Fact): fact is Wanted => fact.type === type;
      let found: Wanted | undefined;
      const seek = async (): Promise<boolean> => {
        found = (await facts()).find(isWanted);
        return found !== undefined;
      };
      await until(seek, `a fact ${type}`, { limitMs, everyMs: 50 });
      if (found === undefined) throw new Error(`no fact ${type}`);
      return found;
    },
  };
}
