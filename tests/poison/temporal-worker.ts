/** A worker of Temporal whose runs may kill it. */
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { WorkerConfig } from "../kit/deployment/deployment.ts";
import { reportStrayErrors } from "../kit/deployment/reports.ts";
import { runTemporalWorker } from "../kit/deployment/run-temporal-worker.ts";
import type { TemporalWorkerWay } from "../kit/deployment/temporal-way.ts";
import { poisonAgent } from "./poison-agent.ts";
import type { Poison } from "./poison-agent.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig & TemporalWorkerWay & Poison;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
await runTemporalWorker(config, { agent: poisonAgent(config), store, log });
await Promise.all([store.close(), log.close()]);
process.exit(0);
