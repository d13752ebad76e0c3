/** A node that runs the workflows of sessions and their steps, as Temporal gives them to it. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DefaultLogger, Runtime, makeTelemetryFilterString } from "@temporalio/worker";
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { createWorker } from "@millrace/temporal/worker";
import type { TemporalWorker } from "@millrace/temporal/worker";
import type { WorkerConfig } from "./deployment.ts";
import { pacedAgent } from "./paced-agent.ts";
import { reportReady, reportStrayErrors } from "./reports.ts";
import type { TemporalWorkerWay } from "./temporal-way.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig & TemporalWorkerWay;
reportStrayErrors();
const filter = makeTelemetryFilterString({ core: "ERROR", other: "ERROR" });
Runtime.install({
  logger: new DefaultLogger("ERROR"),
  telemetryOptions: { logging: { filter } },
});
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
const agent = pacedAgent(config);
const workflows = { code: readFileSync(config.workflows, "utf8"), sourceMap: "" };
const { address, taskQueue } = config.temporal;
const { heartbeatMs, drainMs } = config;

/** A worker that is started while Temporal is away fails, and is started again, as a supervisor would. */
async function connect(): Promise<TemporalWorker> {
  for (;;) {
    try {
      const times = { heartbeatMs, drainMs };
      return await createWorker({ agent, store, log, address, taskQueue, workflows, ...times });
    } catch {
      await sleep(200);
    }
  }
}

const first = connect();
// A history may start a worker while Temporal is away: that is no reason to wait for it.
await Promise.race([first, sleep(5_000)]);
reportReady();
await (await first).run();
// After a stop signal: what is left open would keep the process.
await Promise.all([store.close(), log.close()]);
process.exit(0);
