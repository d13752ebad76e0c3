/** A worker that finds its sessions by itself, for the comparison. */
import { createWorker } from "@millrace/agent/worker";
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { reportReady, reportStrayErrors } from "../../kit/deployment/reports.ts";
import { loadAgent } from "./load-agent.ts";
import { logOptions } from "./node-config.ts";
import type { LoadNodeConfig } from "./node-config.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as LoadNodeConfig;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
const log = redisLog(logOptions(config));
const worker = await createWorker({ agent: loadAgent(), store, log });
reportReady();
await worker.run();
