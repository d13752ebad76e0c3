/** A worker of a history. Runs are limited by counters in Redis, together with all other processes. */
import { createWorker } from "@millrace/agent/worker";
import { parseJsonText } from "@millrace/core/wire";
import { runLimits } from "@millrace/server";
import { postgresBlobs, postgresStore } from "@millrace/stores/postgres";
import { redisCounters, redisLog } from "@millrace/stores/redis";
import type { WorkerConfig } from "../../kit/deployment/deployment.ts";
import { holdAll } from "../../kit/deployment/hold-all.ts";
import { answerStats } from "../../kit/deployment/process-stats.ts";
import { reportReady, reportStrayErrors } from "../../kit/deployment/reports.ts";
import { chaosAgent, runsPerUser } from "./chaos-agent.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig;
reportStrayErrors();
answerStats();
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
const counters = redisCounters({ url: config.redis });
const blobs = postgresBlobs({ url: config.postgres });
const agent = chaosAgent(config);

reportReady();
if (config.drives === "open") await holdAll(agent, { store, log, blobs });
const limits = runLimits({ counters, runsPerUser, tenant: "default" });
const worker = await createWorker({ agent, store, log, blobs, ...limits, drainMs: 2_000 });
await worker.run({ signals: true });
await Promise.all([store.close(), log.close(), counters.close(), blobs.close()]);
process.exit(0);
