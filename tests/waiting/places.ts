import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { RedisLog } from "@millrace/stores/redis";

/** Connections of one process. */
export function openPlaces(options: {
  readonly url: string;
  readonly redisUrl: string;
  readonly prefix: string;
}): { readonly store: PostgresStore; readonly log: RedisLog } & AsyncDisposable {
  const { url, redisUrl, prefix } = options;
  const store = postgresStore({ url });
  const log = redisLog({ url: redisUrl, prefix });
  const dispose = async (): Promise<void> => {
    await log.close();
    await store.close();
  };
  return { store, log, [Symbol.asyncDispose]: dispose };
}
