/** A node that runs the workflows of sessions and their steps, as Temporal gives them to it. */
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { WorkerConfig } from "./deployment.ts";
import { pacedAgent } from "./paced-agent.ts";
import { reportStrayErrors } from "./reports.ts";
import { runTemporalWorker } from "./run-temporal-worker.ts";
import type { TemporalWorkerWay } from "./temporal-way.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig & TemporalWorkerWay;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
await runTemporalWorker(config, { agent: pacedAgent(config), store, log });
// After a stop signal: what is left open would keep the process.
await Promise.all([store.close(), log.close()]);
process.exit(0);
