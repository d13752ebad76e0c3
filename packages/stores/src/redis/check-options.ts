import { checkOptions, expects } from "@millrace/core/checks";
import type { Door } from "@millrace/core/checks";
import type { RedisLogOptions } from "./redis-log.ts";

const { above0, flag, list, optional, record, whole } = expects;

/** Throws `invalid_definition` for options that can't be used. */
export function checkRedisOptions(options: unknown, from: Door["from"]): void {
  checkOptions<RedisLogOptions>({ name: "redisLog", from }, options, {
    url: optional({
      accepts: (value) => typeof value === "string" && /^(rediss?|unix):\/\//i.test(value),
      fix: 'begin it with redis:// or rediss://, as in "redis://localhost:6379"',
    }),
    allowPlain: optional(flag),
    cluster: optional(list("use a list of the addresses of some nodes")),
    client: optional(record("use an object of settings of @redis/client")),
    prefix: optional({
      accepts: (value) => typeof value === "string" && !/[{}]/.test(value),
      fix: "use a text without braces: a brace would take the place of the hash tag, which keeps a session on one node",
    }),
    retentionSeconds: optional(above0("a number of seconds")),
    batchesPerLane: optional(whole(1)),
    announcements: optional(whole(1)),
    timeoutMs: optional(above0("a number of milliseconds")),
    waiting: optional(whole(1)),
  });
}
