import { createHash } from "node:crypto";
import { refusePlainTransport } from "@millrace/core/checks";
import type { Counters, CounterState } from "@millrace/core/ports";
import type { CounterRequest, HoldRequest } from "@millrace/core/store-kit";
import { ErrorReply } from "@redis/client";
import type { RedisClientOptions } from "@redis/client";
import { transportTo, urlOf } from "./address.ts";
import { checkCountersOptions } from "./check-options.ts";
import { holdScript, takeScript } from "./counter-scripts.ts";
import type { Script } from "./counter-scripts.ts";
import { Link } from "./link.ts";

/** Where Redis is, and how long it may take. */
export interface RedisCountersOptions {
  /** `redis://` or `rediss://`. Left out, it is REDIS_URL, or else a Redis on this machine. */
  readonly url?: string | undefined;
  /** Further settings of the client library, such as certificates. */
  readonly client?: RedisClientOptions | undefined;
  /** Whether Redis may be reached without encryption at an address that is not this machine's. */
  readonly allowPlain?: boolean | undefined;
  /** Begins all keys. `millrace:` if left out. Processes with the same one share their counts. */
  readonly prefix?: string | undefined;
  /** How long Redis may leave a ping unanswered before its connection is closed. 1,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** How many calls may wait for a connection. Further ones are rejected at once. */
  readonly waiting?: number | undefined;
}

/** Counters with a connection, which their owner closes. */
export interface RedisCounters extends Counters, AsyncDisposable {
  readonly take: (request: CounterRequest) => Promise<CounterState>;
  readonly hold: (request: HoldRequest) => Promise<boolean>;
  readonly release: (request: Omit<HoldRequest, "limit" | "leaseMs">) => Promise<void>;
  /** Rejects what waits, and closes the connection. */
  readonly close: () => Promise<void>;
}

/**
 * The Counters of many processes, on one Redis 7.0 or later, or Valkey. One command for each call, decided
 * in Redis itself, so that processes together never go above a limit. Time is Redis's own. The names of
 * keys are hashed: Redis shows nobody's user ids. Everything expires by itself.
 *
 * While Redis is away calls reject, and a failed connection is not tried again for a second, so that
 * requests do not wait for it. What was counted is lost with a Redis that forgets: a limit starts anew.
 */
export function redisCounters(options: RedisCountersOptions = {}): RedisCounters {
  checkCountersOptions(options, redisCounters);
  const { client: settings = {}, prefix = "millrace:" } = options;
  const { timeoutMs = 1_000, waiting = 10_000 } = options;
  const url = urlOf(options);
  refusePlainTransport(transportTo(url, options));
  const link = new Link({ url, settings, timeoutMs, waiting });
  let failedAt = -Infinity;
  let failure: unknown;

  const connected = async (): ReturnType<Link["open"]> => {
    if (performance.now() - failedAt < pauseMs) throw failure;
    try {
      return await link.open();
    } catch (error) {
      failedAt = performance.now();
      failure = error;
      throw error;
    }
  };
  const send = async (command: readonly string[]): Promise<unknown> =>
    (link.client ?? (await connected())).sendCommand([...command]);
  /** Redis keeps a script until it restarts: it is sent by its hash, and whole where that is unknown. */
  const run = async (script: Script, key: string, given: readonly string[]): Promise<unknown> => {
    try {
      return await send(["EVALSHA", script.hash, "1", key, ...given]);
    } catch (error) {
      if (!(error instanceof ErrorReply) || !error.message.startsWith("NOSCRIPT")) throw error;
      return await send(["EVAL", script.text, "1", key, ...given]);
    }
  };

  const take: RedisCounters["take"] = async (request) => {
    const { limit, windowMs, amount = 1, beyond = false } = request;
    const bound = beyond ? Infinity : limit;
    const key = keyOf(prefix, "count", request.key);
    const reply = await run(takeScript, key, [`${amount}`, numeral(bound), millis(windowMs)]);
    const [taken, used, leftMs] = reply as readonly [number, number, number]; // what the script gives
    const remaining = Math.max(0, limit - used);
    return { taken: taken === 1, remaining, leftMs: Math.ceil(leftMs / 1_000) * 1_000 };
  };
  const hold: RedisCounters["hold"] = async ({ key, holder, by = "", limit, leaseMs }) => {
    const given = [holder, by, numeral(limit), millis(leaseMs)];
    return (await run(holdScript, keyOf(prefix, "held", key), given)) === 1;
  };
  const release: RedisCounters["release"] = async ({ key, holder, by = "" }) => {
    await send(["ZREM", keyOf(prefix, "held", key), placeOf(holder, by)]);
  };
  const close = async (): Promise<void> => link.close();
  return { take, hold, release, close, [Symbol.asyncDispose]: close };
}

/** After a failed connection calls reject at once for so long. */
const pauseMs = 1_000;

function keyOf(prefix: string, sort: "count" | "held", key: string): string {
  return `${prefix}${sort}:${createHash("sha256").update(key).digest("base64url")}`;
}

/** As the script has it: a name of a place is the length of its holder, the holder, and the process. */
function placeOf(holder: string, by: string): string {
  return `${Buffer.byteLength(holder)}:${holder}${by}`;
}

/** Lua reads no `Infinity`. Above 2^53 nothing is counted anyway. */
function numeral(limit: number): string {
  return limit === Infinity ? "1e300" : `${limit}`;
}

function millis(ms: number): string {
  return `${Math.max(1, Math.round(ms))}`;
}
