/** A node that drives the sessions of its store. */
import { createWorker } from "@millrace/agent/worker";
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { holdAll } from "./hold-all.ts";
import { pacedAgent } from "./paced-agent.ts";
import { reportReady, reportStrayErrors } from "./reports.ts";
import type { WorkerConfig } from "./deployment.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
const agent = pacedAgent(config);

reportReady();
if (config.drives === "pool") await (await createWorker({ agent, store, log })).run();
else await holdAll(agent, { store, log });
