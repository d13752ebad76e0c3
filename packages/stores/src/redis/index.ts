export { redisLog } from "./redis-log.ts";
export type { RedisLog, RedisLogOptions } from "./redis-log.ts";
