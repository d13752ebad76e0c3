import { isJsonObject } from "@millrace/core/json";
import type { Cause, Json } from "@millrace/core";
import { delayInError, detailNames } from "./vendor-delay.ts";

/**
 * What failed between the client and a vendor. A closed union, so that code that retries or
 * displays failures can branch on it.
 */
export type FailureCode =
  // In transport.
  | "connect_timeout"
  | "first_byte_timeout"
  | "idle_timeout"
  | "request_timeout"
  /** An event began and did not end in time. */
  | "event_timeout"
  /** The vendor sends bytes but no progress. */
  | "stalled"
  | "connection_refused"
  | "connection_reset"
  /** The body ended before its framing was complete. */
  | "truncated_transport"
  /** A forward proxy wants a login, or does not let the request through. */
  | "proxy_refused"
  | "redirect_refused"
  | "unexpected_content_type"
  | "not_a_stream"
  | "bad_encoding"
  | "body_too_large"
  | "event_too_large"
  | "bad_json"
  /** A message of a binary stream whose lengths or checksums contradict its bytes. */
  | "bad_frame"
  // Reported by the vendor, by status or in the stream.
  | "bad_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  /** The request body has too many bytes for the vendor. */
  | "request_too_large"
  /** The transcript is too long for the model. A shorter one may pass. */
  | "context_overflow"
  /** What a model thought before is not valid here. Without it the request may pass. */
  | "reasoning_refused"
  | "quota_exceeded"
  | "rate_limited"
  | "overloaded"
  | "server_error"
  | "provider_error"
  | "malformed_call"
  // Violations of the vendor's protocol.
  | "protocol"
  /** Two things that the vendor sent can't both be true, such as a text and its full form. */
  | "contradiction"
  | "too_many_parts"
  | "unknown_stop"
  /** The bytes ended without proof that the reply was complete. */
  | "truncated"
  /** No API key is configured. */
  | "missing_key"
  /** The caller's own `fetch` or `auth` threw. */
  | "hook_failed";

/** Failures that the same request may not meet again. The only table of this. */
const passing: ReadonlySet<string> = new Set<FailureCode>([
  "connect_timeout",
  "first_byte_timeout",
  "idle_timeout",
  "event_timeout",
  "stalled",
  "connection_refused",
  "connection_reset",
  "truncated_transport",
  "truncated",
  "bad_json",
  "bad_frame",
  "rate_limited",
  "overloaded",
  "server_error",
  "malformed_call",
  "contradiction",
]);

/** The cause of a failure with this code. Whether it may be tried again follows from the code. */
export function failure(code: FailureCode, message: string, evidence?: Json): Cause {
  const cause = { code, message, retryable: passing.has(code) };
  return evidence === undefined ? cause : { ...cause, evidence };
}

/**
 * The code for an answer with a status other than 2xx. `names` are those of its body. A name is more
 * specific than a status, but one that may pass does not outweigh a status that can't: servers
 * call a missing model an `api_error`.
 */
export function codeOfAnswer(
  status: number,
  names: readonly (Json | undefined)[],
  words: string,
): FailureCode {
  const code = codeOfError([...names, status], words);
  const own = codeOfStatus(status);
  return passing.has(code) && !passing.has(own) ? own : code;
}

/** Redirects are not followed, because the key would be sent along. */
function codeOfStatus(status: number): FailureCode {
  if (status >= 300 && status < 400) return "redirect_refused";
  switch (status) {
    case 401:
      return "unauthorized";
    case 402:
      return "quota_exceeded";
    case 403:
      return "forbidden";
    case 404:
      return "not_found";
    case 408:
    case 409:
    case 425:
      return "server_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limited";
    case 503:
    case 529:
      return "overloaded";
    default:
      return status >= 500 ? "server_error" : "bad_request";
  }
}

/** Vendors' names of errors, in a stream or in an error body. */
const namesOf: Partial<Record<FailureCode, string>> = {
  bad_request: [
    "bio_policy content_filter content_policy_violation data_residency_mismatch empty_image_file",
    "failed_precondition failed_to_download_image image_content_policy_violation",
    "image_file_not_found image_file_too_large image_parse_error image_too_large image_too_small",
    "invalid_argument invalid_base64_image invalid_image",
    "invalid_image_format invalid_image_mode invalid_image_url invalid_prompt",
    "invalid_request_error responsibleaipolicyviolation unsupported_image_media_type",
    "unsupported_parameter unsupported_value validationexception",
  ].join(" "),
  context_overflow: [
    "context_length_exceeded context_window_exceeded exceed_context_size_error",
    "model_max_prompt_tokens_exceeded",
  ].join(" "),
  forbidden: [
    "accessdeniedexception permission_denied permission_error",
    "unsupported_country_region_territory",
  ].join(" "),
  not_found:
    "deploymentnotfound model_not_found not_found not_found_error resourcenotfoundexception",
  overloaded: [
    "engine_overloaded_error modelnotreadyexception overloaded overloaded_error",
    "server_is_overloaded serviceunavailableexception unavailable unavailable_error",
  ].join(" "),
  reasoning_refused: "invalid_encrypted_content",
  provider_error: "modelerrorexception",
  quota_exceeded: [
    "billing_error billing_hard_limit_reached billing_not_active daily_quota",
    "enforced_spend_limit_reached exceeded_current_quota_error insufficient_balance",
    "insufficient_g1_credits_balance insufficient_quota quota_exhausted usage_limit_reached",
    "servicequotaexceededexception usage_not_included",
  ].join(" "),
  rate_limited: [
    "rate_limit_error rate_limit_exceeded rate_limit_reached_error resource_exhausted slow_down",
    "throttlingexception too_many_requests",
  ].join(" "),
  request_too_large: "request_too_large",
  server_error: [
    "api_error deadline_exceeded internal internal_error internal_server_error",
    "internalserverexception modelstreamerrorexception modeltimeoutexception",
    "server_error timeout_error vector_store_timeout",
  ].join(" "),
  unauthorized: [
    "account_deactivated api_key_invalid authentication_error expiredtoken expiredtokenexception",
    "incompletesignatureexception invalid_api_key invalidclienttokenid invalidsignatureexception",
    "missingauthenticationtokenexception unauthenticated unrecognizedclientexception",
  ].join(" "),
};

const codeOfName: ReadonlyMap<string, FailureCode> = new Map(
  Object.entries(namesOf).flatMap(([code, names]) =>
    names.split(/\s+/).map((name) => [name, code as FailureCode] as const),
  ),
);

/**
 * Converts an error object that a vendor sent to a cause. `names` are the vendor's names for the
 * error, the most specific first: a code, a type, a status name or an HTTP status.
 */
export function vendorFailure(
  names: readonly (Json | undefined)[],
  message: string,
  evidence: Json,
): Cause {
  // Some events have the error inside, beside their type.
  const error = isJsonObject(evidence) ? (evidence["error"] ?? evidence) : null;
  const code = codeOfError([...detailNames(error), ...names], message);
  const wait = passing.has(code) ? delayInError(error, message) : undefined;
  if (wait === undefined || !isJsonObject(evidence)) return failure(code, message, evidence);
  return failure(code, message, { ...evidence, retryAfterMs: wait });
}

/** The failure code by the vendor's names, and by the message where the names are too general. */
export function codeOfError(names: readonly (Json | undefined)[], words: string): FailureCode {
  const code = names.reduce<FailureCode | undefined>(
    (found, name) => found ?? named(name),
    undefined,
  );
  if (oversized.test(words)) return "context_overflow";
  if (code === "bad_request" && unreadable.test(words)) return "reasoning_refused";
  if (code === "bad_request" && unpaid.test(words)) return "quota_exceeded";
  if (code === "rate_limited" && spentToday.test(words)) return "quota_exceeded";
  const isGeneral = code === undefined || general.has(code);
  return isGeneral && overflow.test(words) ? "context_overflow" : (code ?? "provider_error");
}

function named(name: Json | undefined): FailureCode | undefined {
  if (typeof name === "number") return name >= 300 && name < 600 ? codeOfStatus(name) : undefined;
  if (typeof name !== "string") return undefined;
  return /^[345]\d\d$/.test(name) ? codeOfStatus(Number(name)) : codeOfName.get(name.toLowerCase());
}

/**
 * Codes under which vendors also report a transcript that is too long. Rate limits are not among
 * them.
 */
const general: ReadonlySet<FailureCode> = new Set([
  "bad_request",
  "provider_error",
  "request_too_large",
  "server_error",
]);

/**
 * Messages that report a transcript too long for the model. No vendor has a code for every such
 * case. Repetitions are bounded: the search of a long message must stay linear.
 */
const overflow = new RegExp(
  [
    "prompt (?:is )?too long",
    "input (?:length )?(?:is )?too long",
    "(?:prompt|input) exceeds (?:the )?max\\w{0,8} length",
    "maximum prompt length",
    "context[ _-]?(?:length|limit|size|window)",
    "(?:input|prompt) token count",
    "input tokens exceed",
    "too many (?:input )?tokens",
    "exceed\\w{0,8} (?:the )?model token limit",
    "reduce the length of (?:the|your) (?:input|messages|prompt)",
    "`inputs` (?:tokens \\+|must have less than)",
  ].join("|"),
  "i",
);

/** A request with more tokens than the account has, reported as a rate limit. No wait makes it pass; less input does. */
const oversized =
  /^request too large for .{1,300}\(tpm\)|extra usage is required for long context requests/i;

/** Messages for signatures and encrypted reasoning of another account, model or conversation. */
const unreadable = new RegExp(
  [
    "invalid `?signature`? in `?(?:redacted_)?thinking`?",
    "bound to a different conversation",
    "`?compaction`? block.{0,40}`?signature`?",
    "invalid `?signature`? in `?compaction`? block",
    "encrypted content .{0,300}could not be",
    "thought[ _]?signature",
    "reasoning_content.{0,60} must be passed back",
  ].join("|"),
  "i",
);

/** Bedrock's message for the tokens of a day, under the name of a rate limit. */
const spentToday = /too many tokens per day/i;

/** Anthropic's messages for a spent balance or spend limit, under the name of any bad request. */
const unpaid = /credit balance is too low|reached your specified (?:\w{1,20} )?api usage limits/i;
