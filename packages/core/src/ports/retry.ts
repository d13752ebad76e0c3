import type { Cause } from "../content/item.ts";
import { isJsonObject } from "../json.ts";

/** When to try again. The one policy for all that repeat a request: providers and the loop. */
export interface RetryPolicy {
  /** Tries in all, the first one included. */
  readonly attempts: number;
  readonly baseMs: number;
  /**
   * The longest delay of a vendor that is waited for, and the bound of all others. If a vendor asks for
   * more, there is no further try: an earlier one would be refused, and would count against the limit.
   */
  readonly capMs: number;
}

/** The fields of a cause that the policy depends on. */
export type RetryHint = Pick<Cause, "retryable" | "evidence">;

/**
 * Three requests for one reply, with waits below 0.5 s and 1 s. A vendor's delay is waited for up to a
 * minute, the window of most rate limits.
 */
export const defaultRetryPolicy: RetryPolicy = { attempts: 3, baseMs: 500, capMs: 60_000 };

/**
 * How long to wait before the next try, or undefined if there is none. Full jitter: a uniform part of
 * a bound that doubles, so that many clients spread out. The wait that the vendor asked for comes
 * first, in full, and is jittered too, since it asked all clients for the same. `random` is in [0, 1).
 */
export function retryDelay(
  policy: RetryPolicy,
  failed: { readonly attempt: number; readonly cause: RetryHint },
  random: number,
): number | undefined {
  if (failed.cause.retryable !== true || failed.attempt >= policy.attempts) return undefined;
  const asked = askedFor(failed.cause);
  if (asked > policy.capMs) return undefined;
  return asked + random * Math.min(policy.capMs, policy.baseMs * 2 ** (failed.attempt - 1));
}

/** The fields of a cause that decide whether and when to retry. Its text, which may be long, is left out. */
export function retryHintOf(cause: Cause): RetryHint {
  return { retryable: cause.retryable === true, evidence: { retryAfterMs: askedFor(cause) } };
}

/** The wait that the vendor asked for, which stands in the evidence as `retryAfterMs`. */
function askedFor({ evidence }: RetryHint): number {
  const asked = isJsonObject(evidence) ? evidence["retryAfterMs"] : undefined;
  return typeof asked === "number" && asked > 0 ? asked : 0;
}

/** The bounds of a pause before a try that has no last one: for a store or a log that is away. */
const endless = { leastMs: 100, mostMs: 5_000 } as const;

/**
 * How long to wait after so many failures in a row, where giving up is no choice, in whole milliseconds.
 * At least half of a bound that doubles from 100 ms to 5 s, or `mostMs`: without that half a server that
 * is starting would be asked at once. `random` is in [0, 1).
 */
export function endlessPause(
  failures: number,
  random: number,
  mostMs: number = endless.mostMs,
): number {
  const bound = Math.min(mostMs, endless.leastMs * 2 ** Math.min(failures - 1, 16));
  return Math.round(bound * (0.5 + random / 2));
}
