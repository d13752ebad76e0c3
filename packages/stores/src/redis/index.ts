export { redisCounters } from "./redis-counters.ts";
export type { RedisCounters, RedisCountersOptions } from "./redis-counters.ts";
export { redisLog } from "./redis-log.ts";
export type { RedisLog, RedisLogOptions } from "./redis-log.ts";
