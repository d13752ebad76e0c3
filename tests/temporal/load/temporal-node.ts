/** A worker of Temporal under load. It shows how many requests of each sort it made. */
import { readFileSync } from "node:fs";
import { DefaultLogger, Runtime, makeTelemetryFilterString } from "@temporalio/worker";
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { createWorker } from "@millrace/temporal/worker";
import { reportReady, reportStrayErrors } from "../../kit/deployment/reports.ts";
import { loadAgent } from "./load-agent.ts";
import { logOptions } from "./node-config.ts";
import type { TemporalLoadConfig } from "./node-config.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as TemporalLoadConfig;
reportStrayErrors();
const filter = makeTelemetryFilterString({ core: "ERROR", other: "ERROR" });
const bindAddress = `127.0.0.1:${config.metricsPort}`;
Runtime.install({
  logger: new DefaultLogger("ERROR"),
  telemetryOptions: { logging: { filter }, metrics: { prometheus: { bindAddress } } },
});
const { address, taskQueue } = config.temporal;
const worker = await createWorker({
  agent: loadAgent(),
  store: postgresStore({ url: config.postgres }),
  log: redisLog(logOptions(config)),
  address,
  taskQueue,
  workflows: { code: readFileSync(config.workflows, "utf8"), sourceMap: "" },
  heartbeatMs: config.heartbeatMs,
  sdk: { maxConcurrentActivityTaskExecutions: config.steps },
});
reportReady();
await worker.run();
