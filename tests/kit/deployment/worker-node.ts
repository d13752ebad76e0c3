/** A node that drives the sessions of its store. */
import { setTimeout as sleep } from "node:timers/promises";
import { createWorker } from "@millrace/agent/worker";
import { parseJsonText } from "@millrace/core/wire";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { pacedAgent } from "./paced-agent.ts";
import { reportReady, reportStrayErrors } from "./reports.ts";
import type { WorkerConfig } from "./deployment.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as WorkerConfig;
reportStrayErrors();
const store = postgresStore({ url: config.postgres });
const log = redisLog({ url: config.redis });
const agent = pacedAgent(config);

/** Opens every session of the store as soon as it is there, and never closes one. */
async function holdAll(): Promise<void> {
  const open = new Set<string>();
  for (;;) {
    const listed = await store.list().catch(() => []);
    for (const { sessionId } of listed) {
      if (open.has(sessionId)) continue;
      open.add(sessionId);
      agent.open({ id: sessionId, store, log }).catch(() => open.delete(sessionId));
    }
    await sleep(300);
  }
}

reportReady();
if (config.drives === "pool") await (await createWorker({ agent, store, log })).run();
else await holdAll();
