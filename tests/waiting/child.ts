/** A process that drives a session until it waits for a person and a client, and prints that. */
import { waitingAgent } from "./agent.ts";
import { openPlaces } from "./places.ts";

const [name = "", url = "", redisUrl = "", prefix = ""] = process.argv.slice(2);
const { store, log } = openPlaces({ url, redisUrl, prefix });
const session = await waitingAgent().open({ id: name, store, log });
const run = session.send("pay, and let them pick", { key: "q1" });
await run.until("approval_requested");
await run.until("tool_execution_started");
console.log("waiting");
setInterval(() => undefined, 1_000); // until it is killed
