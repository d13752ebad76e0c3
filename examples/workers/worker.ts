// Drives what its store has to do. Start as many as you like, and end one with SIGTERM or SIGINT.
import { createWorker } from "@millrace/agent/worker";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { agent } from "./agent.ts";

// #region worker
await using store = postgresStore(); // DATABASE_URL
await using log = redisLog(); // REDIS_URL
await using worker = await createWorker({
  agent, // or (session) => the agent for it, by its name and metadata
  store,
  log,
  capacity: 100, // runs at once; those that wait for a person do not count
  onEvent: (event) => console.log(JSON.stringify(event)),
});
await worker.run({ signals: true }); // until SIGTERM: ends turns in progress, releases the rest
// #endregion
