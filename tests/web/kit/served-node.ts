/** A node of an application on the web: `createMillrace` on bare Node, as the README mounts it. */
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { SessionStore } from "@millrace/core/ports";
import { parseJsonText } from "@millrace/core/wire";
import { createMillrace } from "@millrace/server";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { pacedAgent } from "../../kit/deployment/paced-agent.ts";
import { reportReady, reportStrayErrors } from "../../kit/deployment/reports.ts";
import type { ServedNodeConfig } from "./fleet.ts";
import { wideLimits } from "./wide-limits.ts";

// The test that starts it wrote it.
const config = parseJsonText(process.argv[2] ?? "") as ServedNodeConfig;
reportStrayErrors();
const all = postgresStore({ url: config.postgres, acrossTenants: true });
const log = redisLog({ url: config.redis, prefix: config.prefix });

/** The store of a tenant. Each reading of facts leaves a line in the file of reads. */
function storeOf(tenant: string): SessionStore {
  const store = all.forTenant(tenant);
  return {
    ...store,
    read: (uid, options) => {
      appendFileSync(config.reads, `${config.name} ${uid}\n`);
      return store.read(uid, options);
    },
  };
}

const millrace = createMillrace({
  agent: pacedAgent(config),
  authenticate: ({ headers }) => {
    const [, bearer] = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "") ?? [];
    const [, cookie] = /(?:^|; )user=([^;]+)/.exec(headers.get("cookie") ?? "") ?? [];
    const user = bearer ?? cookie;
    return user === undefined ? undefined : { tenant: "web", user };
  },
  store: { ...all, forTenant: storeOf },
  log,
  driver: config.drive ? undefined : false,
  secret: "the nodes of one deployment share it",
  limits: wideLimits,
});

const page = config.page === undefined ? undefined : readFileSync(config.page);
const server = createServer((request, response) => {
  if (page !== undefined && request.url === "/") {
    response.setHeader("content-type", "text/html; charset=utf-8").end(page);
    return;
  }
  if (page !== undefined) request.url = request.url?.replace(/^\/agent\//, "/");
  millrace.node(request, response);
});
process.once("SIGTERM", () => {
  const closed = millrace.close({ drainMs: config.drainSeconds * 1_000 });
  void closed.then(() => server.close(() => process.exit(0)));
});
server.listen(config.port, "127.0.0.1", () => reportReady());
