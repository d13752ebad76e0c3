import { checkOptions, expects } from "@millrace/core/checks";
import type { Door } from "@millrace/core/checks";
import type { RedisCountersOptions } from "./redis-counters.ts";
import type { RedisLogOptions } from "./redis-log.ts";

const { above0, flag, list, optional, record, text, whole } = expects;

const connection = {
  url: optional({
    accepts: (value) => typeof value === "string" && /^(rediss?|unix):\/\//i.test(value),
    fix: 'begin it with redis:// or rediss://, as in "redis://localhost:6379"',
  }),
  allowPlain: optional(flag),
  client: optional(record("use an object of settings of @redis/client")),
  timeoutMs: optional(above0("a number of milliseconds")),
  waiting: optional(whole(1)),
};

/** Throws `invalid_definition` for options of counters that can't be used. */
export function checkCountersOptions(options: unknown, from: Door["from"]): void {
  checkOptions<RedisCountersOptions>({ name: "redisCounters", from }, options, {
    ...connection,
    prefix: optional(text("use a text such as millrace:")),
  });
}

/** Throws `invalid_definition` for options that can't be used. */
export function checkRedisOptions(options: unknown, from: Door["from"]): void {
  checkOptions<RedisLogOptions>({ name: "redisLog", from }, options, {
    ...connection,
    cluster: optional(list("use a list of the addresses of some nodes")),
    prefix: optional({
      accepts: (value) => typeof value === "string" && !/[{}]/.test(value),
      fix: "use a text without braces: a brace would take the place of the hash tag, which keeps a session on one node",
    }),
    retentionMs: optional(above0("a number of milliseconds")),
    batchesPerLane: optional(whole(1)),
    announcements: optional(whole(1)),
    window: optional({
      accepts: isWindow,
      fix: "use { leastMs, mostMs }: two numbers of milliseconds, the first from 0, the second not below it",
    }),
  });
}

function isWindow(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { leastMs, mostMs } = value as Readonly<Record<string, unknown>>; // any object has any key
  if (typeof leastMs !== "number" || typeof mostMs !== "number") return false;
  return leastMs >= 0 && mostMs >= leastMs && mostMs < Infinity;
}
