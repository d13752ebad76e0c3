// The web server of the example `on-the-web`, with one line more: what drives its sessions.
import { createServer } from "node:http";
import { createMillrace } from "@millrace/server";
import { temporalDriver } from "@millrace/temporal/client";
import { agent, log, store } from "./agent.ts";

// #region server
export const millrace = createMillrace({
  agent,
  store,
  log,
  driver: temporalDriver({ store }),
  authenticate: () => ({ tenant: "acme", user: "ann" }), // everybody is Ann: for the example only
});
// #endregion
const server = createServer(millrace.node).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void millrace.close().then(() => process.exit()));
server.on("listening", () => console.log(JSON.stringify(server.address())));
