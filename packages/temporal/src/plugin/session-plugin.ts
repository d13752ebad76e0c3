import { fileURLToPath } from "node:url";
import type { BundleOptions, Worker, WorkerOptions } from "@temporalio/worker";
import { openWriter } from "@millrace/agent/engine";
import type { EngineWriter } from "@millrace/agent/engine";
import { finishActivity } from "../session-header.ts";
import { withRedaction } from "../worker/redact-failures.ts";
import { resolveAsHere, stickyMs } from "../worker/sdk-defaults.ts";
import { OpenSessions } from "../worker/open-sessions.ts";
import type { OpenSessionsOptions } from "../worker/open-sessions.ts";
import { activityInterceptors, finishRun } from "./activity-session.ts";

/** Where the sessions of the workflows are. */
export type SessionPluginOptions = Pick<OpenSessionsOptions, "store" | "log" | "blobs">;

/** A plug-in for Temporal's own worker and its bundler. */
export interface SessionPlugin {
  readonly name: string;
  readonly configureWorker: (options: WorkerOptions) => WorkerOptions;
  readonly configureBundler: (options: BundleOptions) => BundleOptions;
  readonly runWorker: (worker: Worker, next: (worker: Worker) => Promise<void>) => Promise<void>;
}

/**
 * Gives workflows a session, beside Temporal's other plug-ins: what their activities ask of models by
 * `throughSession` is streamed to the session's viewers, stored once, and handed to the workflow whole.
 */
export function sessionPlugin({ store, log, blobs }: SessionPluginOptions): SessionPlugin {
  const writers = new OpenSessions<EngineWriter>(store, (record, own) =>
    openWriter({ record, store: own, log, blobs }),
  );
  return {
    name: "millrace-session",
    configureWorker: (options) => ({
      stickyQueueScheduleToStartTimeout: stickyMs,
      ...options,
      activities: { ...options.activities, [finishActivity]: finishRun },
      interceptors: withRedaction({
        ...options.interceptors,
        activity: [activityInterceptors(writers), ...(options.interceptors?.activity ?? [])],
      }),
    }),
    configureBundler: (options) => ({
      ...options,
      workflowInterceptorModules: [
        ...(options.workflowInterceptorModules ?? []),
        ownInterceptors(),
      ],
      webpackConfigHook: (config) =>
        oneFile(resolveAsHere(options.webpackConfigHook?.(config) ?? config)),
    }),
    runWorker: async (worker, next) => {
      try {
        await next(worker);
      } finally {
        await writers.close();
      }
    },
  };
}

function ownInterceptors(): string {
  return fileURLToPath(import.meta.resolve("@millrace/temporal/plugin-workflow"));
}

type Config = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];

/** Frameworks import modules when they need them. A workflow's sandbox loads one script, and no more. */
function oneFile(config: Config): Config {
  const { output, module } = config;
  const javascript = { ...module?.parser?.["javascript"], dynamicImportMode: "eager" } as const;
  return {
    ...config,
    output: { ...output, publicPath: "" },
    module: { ...module, parser: { ...module?.parser, javascript } },
  };
}
