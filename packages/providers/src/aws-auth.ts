import { systemClock } from "@millrace/core/model";
import type { Clock } from "@millrace/core/ports";
import type { Key } from "./auth.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Auth, SignedProof } from "./sign.ts";
import { amzDate, signAws } from "./sigv4.ts";
import type { AwsCredentials } from "./sigv4.ts";
import type { Exchange } from "./transport/exchange.ts";

/** Keys of AWS, or a function that returns them and is called for each request. The providers of AWS's own libraries fit. */
export type AwsCredentialSource = AwsCredentials | (() => AwsCredentials | Promise<AwsCredentials>);

/** How requests to an AWS service are proved. */
export interface AwsAuthOptions {
  /** Default: `AWS_REGION`, then `AWS_DEFAULT_REGION`. */
  readonly region?: string | undefined;
  /** Default: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`. */
  readonly credentials?: AwsCredentialSource | undefined;
  /** A bearer key instead of credentials. Default: `AWS_BEARER_TOKEN_BEDROCK`. */
  readonly apiKey?: Key | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Proves requests to Bedrock: by a bearer key, or by a signature of the request. What is passed counts
 * before what is in the environment, which is read for each request.
 */
export function bedrockAuth(options: AwsAuthOptions): Auth {
  const { apiKey, credentials, clock = systemClock } = options;
  return async (exchange) => {
    const key = typeof apiKey === "function" ? await apiKey() : apiKey;
    const bearer = key ?? (credentials === undefined ? fromEnvironment(bearerVariable) : "");
    if (bearer !== "") return { authorization: `Bearer ${bearer}` };
    const given = typeof credentials === "function" ? await credentials() : credentials;
    const known = given ?? environmentCredentials();
    if (known === undefined) return missing;
    const region = regionOf(options);
    const fault = credentialFault(known) ?? regionFault(region);
    return fault ?? signedProof(exchange, known, { region, now: clock.now() });
  };
}

const bearerVariable = "AWS_BEARER_TOKEN_BEDROCK";

const missing = `there are no credentials: pass credentials or apiKey, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ${bearerVariable}`;

/** Empty if it is not set: shells unset a variable by making it empty. */
function fromEnvironment(name: string): string {
  return process.env[name] ?? "";
}

function environmentCredentials(): AwsCredentials | undefined {
  const accessKeyId = fromEnvironment("AWS_ACCESS_KEY_ID");
  const secretAccessKey = fromEnvironment("AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === "" || secretAccessKey === "") return undefined;
  const sessionToken = fromEnvironment("AWS_SESSION_TOKEN");
  return { accessKeyId, secretAccessKey, ...(sessionToken === "" ? {} : { sessionToken }) };
}

/** A key that is read from a file often ends with a line break, and AWS would only answer 403. */
function credentialFault(given: AwsCredentials): string | undefined {
  for (const name of ["accessKeyId", "secretAccessKey", "sessionToken"] as const) {
    const value: unknown = given[name];
    if (name === "sessionToken" && value === undefined) continue;
    if (typeof value !== "string" || value === "") return `credentials have no ${name}: pass it`;
    if (/\s/.test(value)) return `${name} of the credentials has white space in it: trim it`;
  }
  return undefined;
}

/** Signs the host, the type and AWS's own headers. Proxies may change any other one on the way. */
function signedProof(
  { url, headers, body }: Exchange,
  credentials: AwsCredentials,
  { region, now }: { readonly region: string; readonly now: number },
): SignedProof {
  const { host, pathname, search } = new URL(url);
  const { sessionToken } = credentials;
  const added = {
    "x-amz-date": amzDate(now),
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const own = Object.entries({ ...headers, ...added }).filter(([name]) =>
    /^(?:content-type$|x-amz)/i.test(name),
  );
  const { authorization } = signAws(
    {
      method: "POST",
      path: pathname,
      query: search.slice(1),
      headers: [["host", host], ...own],
      body,
    },
    { region, service: "bedrock", now },
    credentials,
  );
  return {
    headers: { ...added, authorization },
    secrets: {
      [`the secret access key for ${host}`]: credentials.secretAccessKey,
      ...(sessionToken === undefined ? {} : { [`the session token for ${host}`]: sessionToken }),
    },
  };
}

/** The region of the options or of the environment. Empty if there is none. */
function regionOf({ region }: AwsAuthOptions): string {
  return region ?? (fromEnvironment("AWS_REGION") || fromEnvironment("AWS_DEFAULT_REGION"));
}

/** Domains of AWS's partitions by the beginning of their regions. All others have `amazonaws.com`. */
const domains: readonly (readonly [string, string])[] = [
  ["cn-", "amazonaws.com.cn"],
  ["eusc-", "amazonaws.eu"],
  ["us-iso-", "c2s.ic.gov"],
  ["us-isob-", "sc2s.sgov.gov"],
  ["eu-isoe-", "cloud.adc-e.uk"],
  ["us-isof-", "csp.hci.ic.gov"],
];

/** The endpoint of Bedrock's models in a region, unless `baseUrl` or the environment has another one. */
export function bedrockEndpoint(baseUrl: string | undefined, options: AwsAuthOptions): Endpoint {
  return {
    get baseUrl() {
      const given =
        baseUrl ??
        (fromEnvironment("AWS_ENDPOINT_URL_BEDROCK_RUNTIME") ||
          fromEnvironment("AWS_ENDPOINT_URL"));
      const region = regionOf(options);
      if (given !== "" || regionFault(region) !== undefined) return given;
      const domain = domains.find(([start]) => region.startsWith(start))?.[1] ?? "amazonaws.com";
      return `https://bedrock-runtime.${region}.${domain}`;
    },
    get missing() {
      return regionFault(regionOf(options));
    },
  };
}

/** Why a region can't be used. It becomes a part of the address, so nothing else may stand in it. */
function regionFault(region: string): string | undefined {
  if (region === "") return "there is no region: pass region, or set AWS_REGION";
  return isRegion(region)
    ? undefined
    : `${JSON.stringify(region.slice(0, 80))} is no region: use one such as us-east-1, in region or in AWS_REGION`;
}

export function isRegion(region: string): boolean {
  return /^[a-z]{2,}(?:-[a-z]+)+-\d+$/.test(region);
}
