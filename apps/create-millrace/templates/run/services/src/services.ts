// Where sessions live: in PostgreSQL for ever, and in Redis while they are written, so that any number of
// processes serve them. Without both variables it is files of this machine, for development.
import { postgresBlobs, postgresStore } from "@millrace/stores/postgres";
import { redisCounters, redisLog } from "@millrace/stores/redis";
import { openFiles } from "./files.ts";
import { refuse } from "./refuse.ts";

/** Opens what `createMillrace` is given. `close` comes after `millrace.close`. */
export async function openServices() {
  const { DATABASE_URL, REDIS_URL, ALLOW_PLAIN, NODE_ENV } = process.env;
  if (!DATABASE_URL || !REDIS_URL) {
    if (NODE_ENV === "production")
      refuse("Set DATABASE_URL and REDIS_URL to run this in production.");
    return openFiles();
  }
  const allowPlain = ALLOW_PLAIN === "true"; // where the network on the way is trusted
  const store = postgresStore({ url: DATABASE_URL, acrossTenants: true, allowPlain });
  const blobs = postgresBlobs({ url: DATABASE_URL, allowPlain });
  const log = redisLog({ url: REDIS_URL, allowPlain });
  const counters = redisCounters({ url: REDIS_URL, allowPlain }); // limits hold for all processes together
  const close = async () => {
    await Promise.all([counters, log, blobs, store].map((service) => service.close()));
  };
  return { options: { store, blobs, log, counters }, close };
}
