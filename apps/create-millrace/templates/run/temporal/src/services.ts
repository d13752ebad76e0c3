// Where sessions live, and what drives them: PostgreSQL keeps them, Redis carries what is being written, and
// Temporal runs them in workers. Without all three variables it is files of this machine, for development.
import { temporalDriver } from "@millrace/temporal/client";
import { openFiles } from "./files.ts";
import { refuse } from "./refuse.ts";
import { openPorts } from "./ports.ts";

/** Opens what `createMillrace` is given. `close` comes after `millrace.close`. */
export async function openServices() {
  const { DATABASE_URL, REDIS_URL, TEMPORAL_ADDRESS, NODE_ENV } = process.env;
  if (!DATABASE_URL || !REDIS_URL || !TEMPORAL_ADDRESS) {
    if (NODE_ENV === "production")
      refuse("Set DATABASE_URL, REDIS_URL and TEMPORAL_ADDRESS to run this in production.");
    return openFiles();
  }
  const { close, allowPlain, ...ports } = openPorts(DATABASE_URL, REDIS_URL);
  const driver = temporalDriver({ store: ports.store, address: TEMPORAL_ADDRESS, allowPlain });
  return { options: { ...ports, driver }, close };
}
