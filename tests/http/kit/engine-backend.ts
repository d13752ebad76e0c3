import { postgresBlobs, postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { sharedPostgres, sharedRedis } from "../../../scripts/services/shared.ts";
import type { Backend } from "./suite-target.ts";

/** PostgreSQL for facts and blobs, Redis for live text. */
export async function engineBackend(): Promise<Backend> {
  const database = await sharedPostgres();
  const redis = await sharedRedis();
  // It drives, so it looks for work of all tenants.
  const store = postgresStore({ url: database.url, acrossTenants: true });
  await store.migrate();
  const blobs = postgresBlobs({ url: database.url });
  const log = redisLog({ url: redis.url, prefix: redis.prefix });
  return {
    store,
    storeOf: (tenant) => store.forTenant(tenant),
    log,
    blobs,
    [Symbol.asyncDispose]: async () => {
      await log[Symbol.asyncDispose]();
      await blobs[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
