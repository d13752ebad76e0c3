import type { Json } from "@millrace/core";

/**
 * The name of an AWS error, of the header `x-amzn-errortype` or the field `__type`: without the
 * namespace before `#` and the address behind `:`.
 */
export function awsNameOf(given: Json | undefined): string | undefined {
  if (typeof given !== "string") return undefined;
  return /(?:^|#)([^#:]+)(?::|$)/.exec(given)?.[1]?.trim();
}

/** What to do about an error of AWS's authentication, whose own message only states it. */
const advice: readonly (readonly [RegExp, string])[] = [
  [
    /signature expired|signature not yet current/i,
    "this host's clock is wrong by minutes: set it, for example by NTP",
  ],
  [
    /security token included in the request is expired|token has expired/i,
    "the credentials are temporary and over: get new ones, or pass credentials as a function that does",
  ],
  [
    /security token included in the request is invalid/i,
    "the access key is unknown, or its session token is missing or of another key: pass all three of one set",
  ],
  [
    /signature we calculated does not match/i,
    "the secret access key is not that of the access key, or a proxy changed the request",
  ],
  [
    /credential should be scoped to a valid region/i,
    "region is not that of the address: set region to the endpoint's",
  ],
  [
    /don't have access to the model|not authorized to perform: bedrock:/i,
    "enable the model in Bedrock's console in this region, and allow bedrock:InvokeModelWithResponseStream",
  ],
  [
    /on-demand throughput isn.t supported/i,
    "use the id or ARN of an inference profile, such as us.anthropic.…, as the model's name",
  ],
];

/** What to do about an error, behind a semicolon. Empty if nothing is known. */
export function awsAdvice(message: string): string {
  const found = advice.find(([pattern]) => pattern.test(message));
  return found === undefined ? "" : `; ${found[1]}`;
}
