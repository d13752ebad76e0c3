import type {
  NativeConnection,
  WorkerOptions as SdkOptions,
  WorkflowBundleWithSourceMap,
} from "@temporalio/worker";
import type { TemporalConnectOptions } from "../connect-options.ts";
import type { OpenSessionsOptions } from "./open-sessions.ts";

/** What a worker drives, and where. */
export interface TemporalWorkerOptions extends OpenSessionsOptions, TemporalConnectOptions {
  /** A connection that the application made and closes. Left out: the worker makes its own. */
  readonly connection?: NativeConnection | undefined;
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
   * sooner; each sign costs Temporal and its database some milliseconds. 20,000 ms by default.
   */
  readonly heartbeatMs?: number | undefined;
  /** How long `shutdown` waits for steps in progress. 30,000 ms by default. */
  readonly drainMs?: number | undefined;
  /** Further options of Temporal's own worker, such as interceptors and limits. */
  readonly sdk?: Partial<Omit<SdkOptions, SdkOwnName>> | undefined;
}

/** Options of Temporal's own worker that are made of options here. */
export type SdkOwnName =
  | "connection"
  | "namespace"
  | "taskQueue"
  | "workflowsPath"
  | "workflowBundle"
  | "shutdownGraceTime";
