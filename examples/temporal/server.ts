// The web server of the example `on-the-web`, with one line more: what drives its sessions.
import { createServer } from "node:http";
import { createMillrace } from "@millrace/server";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { temporalDriver } from "@millrace/temporal/client";
import { agent } from "./agent.ts";

// #region server
const store = postgresStore({ acrossTenants: true }); // of all tenants, for sessions whose signal was lost
export const millrace = createMillrace({
  agent,
  store,
  log: redisLog(),
  driver: temporalDriver({ store }),
  authenticate: () => ({ tenant: "acme", user: "ann" }), // everybody is Ann: for the example only
});
// #endregion
const server = createServer(millrace.node).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void millrace.close().then(() => process.exit()));
server.on("listening", () => console.log(JSON.stringify(server.address())));
