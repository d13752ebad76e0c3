import type { ModelResponse, RateLimit } from "@millrace/core/ports";
import { untilReset } from "../vendor-delay.ts";
import type { HeaderReader } from "../vendor-delay.ts";

/**
 * Headers with the vendor's id of a request, in the order in which they count: Anthropic; OpenAI and most
 * servers; AWS; Azure's gateway; other services of Azure; Google.
 */
export const requestIdHeaders: readonly string[] = [
  "request-id",
  "x-request-id",
  "x-amzn-requestid",
  "apim-request-id",
  "x-ms-request-id",
  "x-goog-request-id",
];

/** Headers that name the region. */
export const regionHeaders: readonly string[] = ["x-ms-region"];

/** Headers that name the organization: OpenAI, Anthropic. */
const organizationHeaders: readonly string[] = ["openai-organization", "anthropic-organization-id"];

/** The headers of one limit. */
export interface LimitHeaders extends Pick<RateLimit, "of" | "per"> {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const asOpenai = (of: RateLimit["of"], unit: string, per?: RateLimit["per"]): LimitHeaders => ({
  of,
  ...(per === undefined ? {} : { per }),
  limit: `x-ratelimit-limit-${unit}`,
  remaining: `x-ratelimit-remaining-${unit}`,
  reset: `x-ratelimit-reset-${unit}`,
});

const asAnthropic = (of: RateLimit["of"], unit: string): LimitHeaders => ({
  of,
  limit: `anthropic-ratelimit-${unit}-limit`,
  remaining: `anthropic-ratelimit-${unit}-remaining`,
  reset: `anthropic-ratelimit-${unit}-reset`,
});

/**
 * The headers of vendors' limits. From platform.openai.com/docs/guides/rate-limits (also Azure, Groq,
 * Fireworks, xAI), platform.claude.com/docs/en/api/rate-limits, inference-docs.cerebras.ai/support/rate-limits
 * (days and minutes), docs.mistral.ai/deployment/ai-studio/tier (minutes), openrouter.ai/docs/api-reference/limits (no unit).
 */
export const limitHeaders: readonly LimitHeaders[] = [
  asAnthropic("requests", "requests"),
  asAnthropic("tokens", "tokens"),
  asAnthropic("input_tokens", "input-tokens"),
  asAnthropic("output_tokens", "output-tokens"),
  asOpenai("requests", "requests"),
  asOpenai("tokens", "tokens"),
  asOpenai("requests", "requests-day", "day"),
  asOpenai("tokens", "tokens-minute", "minute"),
  asOpenai("requests", "req-minute", "minute"),
  {
    of: "requests",
    limit: "x-ratelimit-limit",
    remaining: "x-ratelimit-remaining",
    reset: "x-ratelimit-reset",
  },
];

/** What an answer's headers say of its request and of the vendor's limits. Undefined if they say nothing. */
export function responseOf(header: HeaderReader, now: number): ModelResponse | undefined {
  const requestId = requestIdOf(header);
  const region = firstOf(regionHeaders, header);
  const organization = firstOf(organizationHeaders, header);
  const rateLimits = limitHeaders.flatMap((names) => limitOf(names, header, now) ?? []);
  const response = {
    ...(requestId === undefined ? {} : { requestId }),
    ...(region === undefined ? {} : { region }),
    ...(organization === undefined ? {} : { organization }),
    ...(rateLimits.length === 0 ? {} : { rateLimits }),
  };
  return Object.keys(response).length === 0 ? undefined : response;
}

export function requestIdOf(header: HeaderReader): string | undefined {
  return firstOf(requestIdHeaders, header);
}

/** The first header that is there, as far as it is a short printable text. */
function firstOf(names: readonly string[], header: HeaderReader): string | undefined {
  for (const name of names) {
    const value = header(name)?.trim() ?? "";
    if (/^[\x21-\x7e][\x20-\x7e]{0,199}$/.test(value)) return value;
  }
  return undefined;
}

function limitOf(names: LimitHeaders, header: HeaderReader, now: number): RateLimit | undefined {
  const limit = countOf(header(names.limit));
  const remaining = countOf(header(names.remaining));
  if (limit === undefined && remaining === undefined) return undefined;
  const resetAt = timeOf(header(names.reset)?.trim() ?? "", header, now);
  return {
    of: names.of,
    ...(names.per === undefined ? {} : { per: names.per }),
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(resetAt === undefined ? {} : { resetAt }),
  };
}

function countOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value.trim()) ? Number(value) : undefined;
}

/** Some gateways send the time itself, in seconds or milliseconds since 1970. */
function timeOf(value: string, header: HeaderReader, now: number): string | undefined {
  const since = /^\d{10}$/.test(value) ? 1_000 : /^\d{13}$/.test(value) ? 1 : undefined;
  const at = since === undefined ? untilReset(value, header, now) : Number(value) * since - now;
  return at === undefined ? undefined : new Date(Math.min(now + at, 8.64e15)).toISOString();
}
