// A worker: it drives the sessions of all servers that share its services. Start as many as you like, and end
// one with SIGTERM: it finishes its steps, and the rest goes on in the others.
import { createWorker } from "@millrace/temporal/worker";
import { agent } from "./agent.ts";
import { openPorts } from "./ports.ts";
import { refuse } from "./refuse.ts";

const { DATABASE_URL, REDIS_URL, TEMPORAL_ADDRESS } = process.env;
if (!DATABASE_URL || !REDIS_URL || !TEMPORAL_ADDRESS)
  refuse(
    "Set DATABASE_URL, REDIS_URL and TEMPORAL_ADDRESS: a worker shares them with the servers.",
  );

const { close, ...ports } = openPorts(DATABASE_URL, REDIS_URL);
// A worker that was killed is noticed after the time of its heartbeat.
const worker = await createWorker({
  agent,
  ...ports,
  address: TEMPORAL_ADDRESS,
  heartbeatMs: 5_000,
});
console.log("ready");
await worker.run(); // until SIGTERM
await worker[Symbol.asyncDispose]();
await close();
