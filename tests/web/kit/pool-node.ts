/** A worker of an application on the web: it drives the sessions that nodes with `driver: false` serve. */
import { createWorker } from "@millrace/agent/worker";
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { pacedAgent } from "../../kit/deployment/paced-agent.ts";
import { reportReady, reportStrayErrors } from "../../kit/deployment/reports.ts";
import type { ServedNodeConfig } from "./fleet.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as ServedNodeConfig;
reportStrayErrors();
const store = postgresStore({ url: config.postgres, acrossTenants: true });
const log = redisLog({ url: config.redis, prefix: config.prefix });
const worker = await createWorker({ agent: pacedAgent(config), store, log });
reportReady();
await worker.run();
