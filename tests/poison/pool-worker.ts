/** A worker whose runs may kill it. */
import { createWorker } from "@millrace/agent/worker";
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { WorkerConfig } from "../kit/deployment/deployment.ts";
import { reportReady, reportStrayErrors } from "../kit/deployment/reports.ts";
import { poisonAgent } from "./poison-agent.ts";
import type { Poison } from "./poison-agent.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig & Poison;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
reportReady();
await (await createWorker({ agent: poisonAgent(config), store, log })).run();
await Promise.all([store.close(), log.close()]);
process.exit(0);
