import { withKeys } from "@millrace/conformance";
import { redisLog } from "../redis/redis-log.ts";
import type { RedisLog, RedisLogOptions } from "../redis/redis-log.ts";

/** A log for tests that have no store: each session that it is used for has the same key. */
export function keyedRedisLog(options?: RedisLogOptions): RedisLog {
  return withKeys(redisLog(options));
}
