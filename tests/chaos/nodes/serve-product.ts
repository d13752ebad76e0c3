import { createServer } from "node:http";
import type { SessionDriver } from "@millrace/core/ports";
import { agUi } from "@millrace/dialects/ag-ui";
import { aiSdk } from "@millrace/dialects/ai-sdk";
import { openai } from "@millrace/dialects/openai";
import { createMillrace } from "@millrace/server";
import type { PostgresStore } from "@millrace/stores/postgres";
import { postgresBlobs } from "@millrace/stores/postgres";
import { redisCounters, redisLog } from "@millrace/stores/redis";
import type { WebConfig } from "../../kit/deployment/deployment.ts";
import { answerStats } from "../../kit/deployment/process-stats.ts";
import { reportReady } from "../../kit/deployment/reports.ts";
import { wideLimits } from "../../web/kit/wide-limits.ts";
import { chaosAgent, heartbeatMs, runsPerUser } from "./chaos-agent.ts";

/** Serves the product on bare Node, until SIGTERM. Without a driver it drives the sessions itself. */
export function serveProduct(
  config: WebConfig,
  store: PostgresStore,
  driver: SessionDriver | false | undefined,
): void {
  const log = redisLog({ url: config.redis });
  const counters = redisCounters({ url: config.redis });
  const blobs = postgresBlobs({ url: config.postgres });
  const millrace = createMillrace({
    agent: chaosAgent(config),
    authenticate: ({ headers }) => {
      const [, user] = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "") ?? [];
      return user === undefined ? undefined : { tenant: "default", user };
    },
    store: () => store,
    log,
    counters,
    blobs,
    driver,
    dialects: [aiSdk(), agUi(), openai()],
    secret: "the nodes of one deployment share it",
    streams: { heartbeatMs },
    limits: { ...wideLimits, runsPerUser },
  });
  const server = createServer((request, response) => millrace.node(request, response));
  answerStats();
  process.once("SIGTERM", () => {
    void (async () => {
      await millrace.close({ drainMs: 2_000 });
      server.close();
      server.closeAllConnections();
      await Promise.all([store.close(), log.close(), counters.close(), blobs.close()]);
      process.exit(0);
    })();
  });
  server.listen(config.port, "127.0.0.1", () => reportReady());
}
