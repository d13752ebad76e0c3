import { fileURLToPath } from "node:url";
import { NativeConnection, Worker as SdkWorker } from "@temporalio/worker";
import type {
  NativeConnectionOptions,
  WorkerOptions as SdkOptions,
  WorkflowBundleWithSourceMap,
} from "@temporalio/worker";
import { defaultTaskQueue } from "../names.ts";
import { activitiesOf } from "./activities.ts";
import { resolveAsHere, stickyMs } from "./sdk-defaults.ts";
import { openSeatOf, Seats } from "./seats.ts";
import type { SeatsOptions } from "./seats.ts";

/** What a worker drives, and where. */
export interface TemporalWorkerOptions extends SeatsOptions {
  /** Where Temporal is, or a connection to it. Left out: `TEMPORAL_ADDRESS`, else 127.0.0.1:7233. */
  readonly temporal?: NativeConnectionOptions | NativeConnection | undefined;
  /** Left out: `default`. */
  readonly namespace?: string | undefined;
  /** Left out: `millrace`. Workers for tools with a queue of their own name that one. */
  readonly taskQueue?: string | undefined;
  /**
   * A file that exports `agentWorkflow` of `@millrace/temporal/workflow`, and workflows of one's own, or
   * what `bundleWorkflowCode` of Temporal made of it. Left out: `agentWorkflow` alone. `false`: this worker
   * runs activities only, such as the tools of its queue.
   */
  readonly workflows?: URL | WorkflowBundleWithSourceMap | false | undefined;
  /**
   * A step whose worker shows no sign for this long is repeated elsewhere. Shorter notices a killed worker
   * sooner; each sign costs Temporal and its database about 6 ms. 20,000 ms by default.
   */
  readonly heartbeatMs?: number | undefined;
  /** How long `shutdown` waits for steps in progress. 30,000 ms by default. */
  readonly drainMs?: number | undefined;
  /** Further options of Temporal's own worker, such as interceptors and limits. */
  readonly sdk?: Partial<SdkOptions> | undefined;
}

/** A process that runs the workflows of sessions and their steps. */
export interface TemporalWorker extends AsyncDisposable {
  /** Takes work until `shutdown` is called, or a stop signal comes. Rejects if Temporal's worker failed. */
  readonly run: () => Promise<void>;
  /** Takes nothing new, waits for steps in progress, and leaves the rest to other workers. */
  readonly shutdown: () => Promise<void>;
}

/** Makes a worker and connects it. `run` starts it. */
export async function createWorker(options: TemporalWorkerOptions): Promise<TemporalWorker> {
  const { workflows, heartbeatMs = 20_000, drainMs = 30_000, sdk = {} } = options;
  const seats = new Seats(options.store, openSeatOf(options));
  const { temporal } = options;
  const given = temporal instanceof NativeConnection ? temporal : undefined;
  const connection = given ?? (await connect(temporal));
  const worker = await SdkWorker.create({
    stickyQueueScheduleToStartTimeout: stickyMs,
    maxConcurrentActivityTaskExecutions: 500,
    ...sdk,
    connection,
    namespace: options.namespace ?? "default",
    taskQueue: options.taskQueue ?? defaultTaskQueue,
    shutdownGraceTime: drainMs,
    ...workflowsOf(workflows),
    bundlerOptions: { webpackConfigHook: resolveAsHere, ...sdk.bundlerOptions },
    activities: { ...activitiesOf(seats, options, { heartbeatMs }), ...sdk.activities },
  });
  let running: Promise<void> | undefined;
  const run = (): Promise<void> => (running ??= worker.run());
  const shutdown = async (): Promise<void> => {
    if (worker.getState() === "RUNNING") worker.shutdown();
    await running?.catch(() => undefined); // `run` has rejected with it
    await seats.close();
    if (given === undefined) await connection.close().catch(() => undefined);
  };
  return {
    run: async () => {
      await run();
      await shutdown();
    },
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}

async function connect(options: NativeConnectionOptions | undefined): Promise<NativeConnection> {
  const address = process.env["TEMPORAL_ADDRESS"] ?? "127.0.0.1:7233";
  return await NativeConnection.connect({ address, ...options });
}

function workflowsOf(
  workflows: TemporalWorkerOptions["workflows"],
): Pick<SdkOptions, "workflowsPath" | "workflowBundle"> {
  if (workflows === false) return {};
  if (workflows === undefined || workflows instanceof URL)
    return { workflowsPath: fileURLToPath(workflows ?? ownWorkflows()) };
  return { workflowBundle: workflows };
}

/** The workflow's own module, as it is installed: built, or a source where this file is one. */
function ownWorkflows(): URL {
  return new URL(import.meta.resolve("@millrace/temporal/workflow"));
}
