/** A worker of a history. Runs are limited by counters in Redis, together with all other processes. */
import { setTimeout as sleep } from "node:timers/promises";
import { createWorker } from "@millrace/agent/worker";
import { parseJsonText } from "@millrace/core/wire";
import { runLimits } from "@millrace/server";
import { postgresBlobs, postgresStore } from "@millrace/stores/postgres";
import { redisCounters, redisLog } from "@millrace/stores/redis";
import type { WorkerConfig } from "../../kit/deployment/deployment.ts";
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

/** Opens every session of the store as soon as it is there, and never closes one. */
async function holdAll(): Promise<void> {
  const open = new Set<string>();
  for (;;) {
    const listed = await store.list().catch(() => []);
    for (const { sessionId, parent } of listed) {
      if (open.has(sessionId) || parent !== undefined) continue;
      open.add(sessionId);
      agent.open({ id: sessionId, store, log, blobs }).catch(() => open.delete(sessionId));
    }
    await sleep(300);
  }
}

reportReady();
if (config.drives === "open") await holdAll();
const limits = runLimits({ counters, runsPerUser, tenant: "default" });
const worker = await createWorker({ agent, store, log, blobs, ...limits, drainMs: 2_000 });
await worker.run({ signals: true });
await Promise.all([store.close(), log.close(), counters.close(), blobs.close()]);
process.exit(0);
