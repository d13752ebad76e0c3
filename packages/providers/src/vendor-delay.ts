import { isJsonObject } from "@millrace/core/json";
import type { Cause, Json, JsonObject } from "@millrace/core";

/** Reads a header of a response by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/**
 * The delay that a vendor's headers ask for before the next try, in milliseconds: `retry-after-ms`,
 * or `retry-after` in seconds or as a date. Other values give undefined. `now` is this host's clock.
 */
export function delayInHeaders(header: HeaderReader, now: number): number | undefined {
  const exact = header("retry-after-ms") ?? header("x-ms-retry-after-ms");
  if (exact !== undefined && /^\d{1,12}(\.\d+)?$/.test(exact.trim())) return Number(exact);
  const value = header("retry-after")?.trim() ?? "";
  if (/^\d{1,12}(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  return /^[A-Za-z]{3,9},/.test(value) ? until(value, header, now) : undefined;
}

/** Windows of vendors' rate limits: the header of what is left, and that of the time of its reset. */
const windows = [
  ...["requests", "tokens"].map((unit) => ({
    left: `x-ratelimit-remaining-${unit}`,
    reset: `x-ratelimit-reset-${unit}`,
  })),
  ...["requests", "tokens", "input-tokens", "output-tokens"].map((unit) => ({
    left: `anthropic-ratelimit-${unit}-remaining`,
    reset: `anthropic-ratelimit-${unit}-reset`,
  })),
];

/**
 * The delay until the rate limit resets, for an answer 429 without a delay of its own. Every answer has
 * these headers, so only those of a spent window count. If none is spent, the request needed more
 * than was left of some window, and the longest counts. A reset is a duration (`6m0s`), seconds, or a
 * date.
 */
export function delayToReset(header: HeaderReader, now: number): number | undefined {
  const known = windows.flatMap(({ left, reset }) => {
    const value = header(reset)?.trim() ?? "";
    const ms = untilReset(value, header, now);
    return ms === undefined ? [] : [{ ms, isSpent: header(left)?.trim() === "0" }];
  });
  const spent = known.filter(({ isSpent }) => isSpent);
  const counted = (spent.length > 0 ? spent : known).map(({ ms }) => ms);
  return counted.length === 0 ? undefined : Math.max(...counted);
}

/**
 * The delay that an error object asks for: Google's `RetryInfo`, or the vendor's message. The messages
 * of OpenAI and Google are read because their own clients read them too. Google cuts `RetryInfo`
 * to whole seconds and has the exact time in the message, so the longer of the two counts.
 */
export function delayInError(error: Json, message: string): number | undefined {
  const asked = detailsOf(error).map(({ retryDelay }) =>
    typeof retryDelay === "string" ? durationMs(retryDelay) : undefined,
  );
  const words = /\b(?:try again|retry) in (\d[\d.dhms]{0,30}(?:ms|s))\b/i.exec(message)?.[1];
  if (words !== undefined) asked.push(durationMs(words));
  const known = asked.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/**
 * The names of an error in its details, which are more specific than its code: Google's reasons and
 * quotas, Anthropic's and Azure's inner codes.
 */
export function detailNames(error: Json): readonly string[] {
  const own = isJsonObject(error) ? error : {};
  const inner = [own["details"], own["innererror"]].filter(isJsonObject);
  const names = inner.flatMap((each) => [each["error_code"], each["code"]]);
  for (const { reason, violations } of detailsOf(error)) {
    names.push(reason);
    const quotas = Array.isArray(violations) ? (violations as readonly Json[]) : [];
    if (quotas.some(isDaily)) names.push("daily_quota");
  }
  return names.filter((name) => typeof name === "string");
}

/** The cause with the time of the next try in its message and evidence, if the vendor named one. */
export function withRetryTime(cause: Cause, now: number): Cause {
  const { evidence, retryable, message } = cause;
  const wait = isJsonObject(evidence) ? evidence["retryAfterMs"] : undefined;
  if (retryable !== true || typeof wait !== "number" || wait <= 0) return cause;
  const retryAt = new Date(Math.min(now + wait, 8.64e15)).toISOString();
  const seconds = Math.ceil(wait / 1_000);
  return {
    ...cause,
    message: `${message}; the vendor takes it again in ${seconds} s, at ${retryAt}`,
    evidence: { ...(evidence as JsonObject), retryAt },
  };
}

/** A quota of a day is not free again within any wait, whatever delay stands beside it. */
function isDaily(violation: Json): boolean {
  const quota = isJsonObject(violation) ? violation["quotaId"] : undefined;
  return typeof quota === "string" && /PerDay|Daily/.test(quota);
}

/** Google's list of details. */
function detailsOf(error: Json): readonly Partial<Record<string, Json>>[] {
  const details = isJsonObject(error) ? error["details"] : undefined;
  return Array.isArray(details) ? (details as readonly Json[]).filter(isJsonObject) : [];
}

/** The time until a limit resets: a duration (`6m0s`), seconds, or a date. */
export function untilReset(value: string, header: HeaderReader, now: number): number | undefined {
  return /^\d{4}-\d\d-\d\dT/.test(value) ? until(value, header, now) : durationMs(value);
}

/** The time until a date, by the vendor's own clock if the answer has its date. */
function until(date: string, header: HeaderReader, now: number): number | undefined {
  const sent = Date.parse(header("date") ?? "");
  const ms = Date.parse(date) - (Number.isNaN(sent) ? now : sent);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** Reads `6m0s`, `1.5s`, `120ms`, and a number, which is seconds. */
function durationMs(text: string): number | undefined {
  if (/^\d{1,9}(\.\d{1,12})?$/.test(text)) return Number(text) * units.s;
  if (!/^(?:\d{1,9}(?:\.\d{1,12})?(?:ms|[dhms])){1,5}$/.test(text)) return undefined;
  const parts = text.matchAll(/([\d.]+)(ms|[dhms])/g);
  // The pattern admits no other unit.
  const sum = [...parts].reduce(
    (ms, [, count, unit]) => ms + Number(count) * units[unit as keyof typeof units],
    0,
  );
  return Math.round(sum);
}
