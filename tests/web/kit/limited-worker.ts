/** A worker whose runs at once are limited together with all other processes, by counters in Redis. */
import { defineAgent } from "@millrace/agent";
import { createWorker } from "@millrace/agent/worker";
import { say, scriptedModel } from "@millrace/core/testing";
import { parseJsonText } from "@millrace/core/wire";
import type { Model } from "@millrace/core";
import { runLimits } from "@millrace/server";
import { postgresStore } from "@millrace/stores/postgres";
import { redisCounters, redisLog } from "@millrace/stores/redis";
import { reportReady, reportStrayErrors } from "../../kit/deployment/reports.ts";

/** The argument of the program. */
export interface LimitedWorkerConfig {
  readonly postgres: string;
  readonly redis: string;
  readonly prefix: string;
  readonly runsPerUser: number;
  /** How long a session stays open after its run. */
  readonly idleMs: number;
  /** The pause before each chunk of four characters of a reply. */
  readonly chunkMs: number;
}

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as LimitedWorkerConfig;
const { postgres, redis: url, prefix, runsPerUser, idleMs, chunkMs } = config;
reportStrayErrors();
const model: Model = {
  id: "limited/model",
  stream: (request) =>
    scriptedModel([[say("one two three four five six seven eight")]], {
      delayMs: chunkMs,
      chunk: [4],
    }).stream(request),
};
const worker = await createWorker({
  agent: defineAgent({ model }),
  store: postgresStore({ url: postgres, acrossTenants: true }),
  log: redisLog({ url, prefix }),
  idleMs,
  ...runLimits({ counters: redisCounters({ url, prefix }), runsPerUser }),
});
reportReady();
await worker.run();
