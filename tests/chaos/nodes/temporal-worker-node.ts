/** A worker of a history that Temporal drives. */
import { parseJsonText } from "@millrace/core/wire";
import { postgresBlobs, postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { WorkerConfig } from "../../kit/deployment/deployment.ts";
import { answerStats } from "../../kit/deployment/process-stats.ts";
import { reportStrayErrors } from "../../kit/deployment/reports.ts";
import { runTemporalWorker } from "../../kit/deployment/run-temporal-worker.ts";
import type { TemporalWorkerWay } from "../../kit/deployment/temporal-way.ts";
import { chaosAgent } from "./chaos-agent.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig & TemporalWorkerWay;
reportStrayErrors();
answerStats();
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
const blobs = postgresBlobs({ url: config.postgres });
await runTemporalWorker(config, { agent: chaosAgent(config), store, log, blobs });
// After a stop signal: what is left open would keep the process.
await Promise.all([store.close(), log.close(), blobs.close()]);
process.exit(0);
