// A worker alone, for `TEMPORAL_ADDRESS`: it drives the sessions of all servers that share its services. Start as
// many as you like, beside servers with `WORKER=0`.
import { chooseAgent, modelsOf } from "./models.ts";
import { openServices } from "./services.ts";

const services = await openServices(process.env, chooseAgent(modelsOf(process.env)));
if (!services.names.includes("Temporal"))
  throw new Error("set TEMPORAL_ADDRESS, DATABASE_URL and REDIS_URL");
console.log(`with ${services.names.join(", ")}`);
process.once("SIGTERM", () => void services.close().then(() => process.exit(0)));
