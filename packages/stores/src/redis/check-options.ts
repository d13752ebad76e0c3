import { checkOption, checkOptions, expects } from "@millrace/core/checks";
import type { Door, OptionCheck } from "@millrace/core/checks";
import { usesEnvironment } from "./address.ts";
import type { RedisAddress } from "./address.ts";
import type { RedisCountersOptions } from "./redis-counters.ts";
import type { RedisLogOptions } from "./redis-log.ts";

const { above0, flag, list, optional, record, text, whole } = expects;

const address: OptionCheck = {
  accepts: (value) => typeof value === "string" && /^(rediss?|unix):\/\//i.test(value),
  fix: 'begin it with redis:// or rediss://, as in "redis://localhost:6379"',
};

const connection = {
  url: optional(address),
  allowPlain: optional(flag),
  client: optional(record("use an object of settings of @redis/client")),
  timeoutMs: optional(above0("a number of milliseconds")),
  waiting: optional(whole(1)),
};

/** Throws `invalid_definition` for options of counters that can't be used. */
export function checkCountersOptions(options: unknown, from: Door["from"]): void {
  const door = { name: "redisCounters", from };
  checkOptions<RedisCountersOptions>(door, options, {
    ...connection,
    prefix: optional(text("use a text such as millrace:")),
  });
  checkAddress(door, options as RedisCountersOptions); // checked above
}

/** Throws `invalid_definition` for options that can't be used. */
export function checkRedisOptions(options: unknown, from: Door["from"]): void {
  const door = { name: "redisLog", from };
  checkOptions<RedisLogOptions>(door, options, {
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
  const given = options as RedisLogOptions; // checked above
  if (given.cluster === undefined) checkAddress(door, given);
}

/** The address of the environment, where it is the one that counts. */
function checkAddress(door: Door, options: RedisAddress): void {
  if (!usesEnvironment(options)) return;
  checkOption(door, "REDIS_URL", process.env["REDIS_URL"], optional(address));
}

function isWindow(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { leastMs, mostMs } = value as Readonly<Record<string, unknown>>; // any object has any key
  if (typeof leastMs !== "number" || typeof mostMs !== "number") return false;
  return leastMs >= 0 && mostMs >= leastMs && mostMs < Infinity;
}
