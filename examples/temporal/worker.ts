// A worker: it runs the workflows of sessions and their steps. Start as many as you like.
import { createWorker } from "@millrace/temporal/worker";
import { agent, log, store } from "./agent.ts";

// #region worker
await using worker = await createWorker({
  agent,
  store,
  log,
  heartbeatMs: 3_000, // a killed worker is noticed after this time; 20,000 if left out
}); // connects to TEMPORAL_ADDRESS
// #endregion
console.log("ready");
await worker.run();
