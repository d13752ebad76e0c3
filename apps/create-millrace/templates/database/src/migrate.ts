// Makes the tables, or brings them up to date, as their owner: npm run migrate. Servers and workers are the role `app`.
import { postgresStore } from "@millrace/stores/postgres";
import { refuse } from "./refuse.ts";

const { OWNER_URL, ALLOW_PLAIN } = process.env;
if (!OWNER_URL)
  refuse("Set OWNER_URL, as .env.owner has it: the address of the database for its owner.");
const store = postgresStore({ url: OWNER_URL, allowPlain: ALLOW_PLAIN === "true" });
await store.migrate({ workerRole: "app" });
await store.close();
