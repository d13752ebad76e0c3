// A worker: it runs the workflows of sessions and their steps. Start as many as you like.
import { createWorker } from "@millrace/temporal/worker";
import { agent, log, store } from "./agent.ts";

// #region worker
await using worker = await createWorker({ agent, store, log }); // TEMPORAL_ADDRESS
// #endregion
console.log("ready");
await worker.run(); // until SIGTERM
await Promise.all([store.close(), log.close()]); // or they keep the process
