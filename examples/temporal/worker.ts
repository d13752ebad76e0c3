// A worker: it runs the workflows of sessions and their steps. Start as many as you like.
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { createWorker } from "@millrace/temporal/worker";
import { agent } from "./agent.ts";

// #region worker
await using store = postgresStore({ acrossTenants: true }); // DATABASE_URL
await using log = redisLog(); // REDIS_URL
await using worker = await createWorker({
  agent,
  store,
  log,
  heartbeatMs: 3_000, // a killed worker is noticed after this time; 20,000 if left out
}); // connects to TEMPORAL_ADDRESS
console.log("ready");
await worker.run(); // until SIGTERM
// #endregion
