import { fileURLToPath } from "node:url";
import { Worker as SdkWorker } from "@temporalio/worker";
import type { WorkerOptions as SdkOptions } from "@temporalio/worker";
import { defaultTaskQueue } from "../names.ts";
import { activitiesOf } from "./activities.ts";
import { checkWorkerOptions } from "./check-options.ts";
import { connectWorker } from "./connect.ts";
import type { TemporalWorkerOptions } from "./options.ts";
import { withRedaction } from "./redact-failures.ts";
import { resolveAsHere, stickyMs } from "./sdk-defaults.ts";
import { openSessionOf, OpenSessions } from "./open-sessions.ts";

/** A process that runs the workflows of sessions and their steps. */
export interface TemporalWorker extends AsyncDisposable {
  /** Takes work until `shutdown` is called, or a stop signal comes. Rejects if Temporal's worker failed. */
  readonly run: () => Promise<void>;
  /** Takes nothing new, waits for steps in progress, and leaves the rest to other workers. */
  readonly shutdown: () => Promise<void>;
}

/**
 * Makes a worker and connects it. `run` starts it. Rejects with `invalid_definition` for options that
 * can't be used.
 */
export async function createWorker(options: TemporalWorkerOptions): Promise<TemporalWorker> {
  checkWorkerOptions(options, createWorker);
  const { workflows, heartbeatMs = 20_000, drainMs = 30_000, sdk = {} } = options;
  const sessions = new OpenSessions(options.store, openSessionOf(options));
  const { connection, close } = await connectWorker(options);
  const creating = SdkWorker.create({
    stickyQueueScheduleToStartTimeout: stickyMs,
    maxConcurrentActivityTaskExecutions: 500,
    ...sdk,
    connection,
    namespace: options.namespace ?? "default",
    taskQueue: options.taskQueue ?? defaultTaskQueue,
    shutdownGraceTime: drainMs,
    ...workflowsOf(workflows),
    bundlerOptions: { webpackConfigHook: resolveAsHere, ...sdk.bundlerOptions },
    activities: { ...activitiesOf(sessions, options, { heartbeatMs }), ...sdk.activities },
    interceptors: withRedaction(sdk.interceptors),
  });
  const worker = await creating.catch(async (error: unknown) => {
    await close();
    throw error;
  });
  let running: Promise<void> | undefined;
  const run = (): Promise<void> => (running ??= worker.run());
  const shutdown = async (): Promise<void> => {
    if (worker.getState() === "RUNNING") worker.shutdown();
    await running?.catch(() => undefined); // `run` has rejected with it
    await sessions.close();
    await close();
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
