import { createPrivateKey } from "node:crypto";
import { checkOption, checkOptions, expects } from "@millrace/core/checks";
import type { OptionChecks } from "@millrace/core/checks";
import { systemClock } from "@millrace/core/memory";
import type { Clock } from "@millrace/core/ports";
import { AuthFailure } from "./auth.ts";
import { networkFailure } from "./transport/errors.ts";
import { keepToken, readLease, signedClaims } from "./google-token.ts";
import type { Lease } from "./google-token.ts";

/** The key of a service account: the content of the JSON file that Google Cloud gives out. */
export interface ServiceAccountKey {
  readonly client_email: string;
  /** In PEM. */
  readonly private_key: string;
  readonly private_key_id?: string | undefined;
  /** Where it is exchanged. Default: `https://oauth2.googleapis.com/token`. */
  readonly token_uri?: string | undefined;
}

/** How tokens are asked for. */
export interface TokenOptions {
  /** Default: the runtime's. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly clock?: Clock | undefined;
}

const checks: OptionChecks<TokenOptions> = {
  fetch: expects.optional(expects.call("pass a function such as fetch")),
  clock: expects.optional(expects.having(["now", "monotonic"], "pass a clock, or leave it out")),
};

const scope = "https://www.googleapis.com/auth/cloud-platform";
const publicUri = "https://oauth2.googleapis.com/token";

/**
 * Access tokens for a service account, for the option `token`: signs a claim with the account's key and
 * exchanges it. A token is kept until five minutes before its end, and one exchange serves all requests that wait.
 */
export function serviceAccount(
  key: ServiceAccountKey,
  options: TokenOptions = {},
): () => Promise<string> {
  const door = { name: "serviceAccount", from: serviceAccount };
  checkOption(door, "the key", key, isKey);
  checkOptions<TokenOptions>(door, options, checks);
  const { fetch = globalThis.fetch, clock = systemClock } = options;
  const { client_email: email, private_key: pem, private_key_id: keyId, token_uri: uri } = key;
  const audience = uri ?? publicUri;
  const load = async (): Promise<Lease> => {
    const now = Math.floor(clock.now() / 1_000);
    const claims = { iss: email, scope, aud: audience, iat: now, exp: now + 3_600 };
    const assertion = signedClaims(claims, { key: pem, keyId });
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    return await ask(fetch, audience, {
      method: "POST",
      body: new URLSearchParams({ grant_type, assertion }),
    });
  };
  return keepToken(load, clock);
}

const metadataUri =
  "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token";

/**
 * Access tokens of the machine that the program runs on, for the option `token`: Compute Engine, Cloud Run, GKE.
 * They come from the metadata server (`GCE_METADATA_HOST` if that is set), which only such a machine has.
 */
export function metadataToken(options: TokenOptions = {}): () => Promise<string> {
  checkOptions<TokenOptions>({ name: "metadataToken", from: metadataToken }, options, checks);
  const { fetch = globalThis.fetch, clock = systemClock } = options;
  const load = (): Promise<Lease> => {
    const url = new URL(metadataUri);
    url.host = process.env["GCE_METADATA_HOST"] || url.host;
    return ask(fetch, url.href, { headers: { "metadata-flavor": "Google" } });
  };
  return keepToken(load, clock);
}

/** How long a token server may take to answer. */
const answerMs = 30_000;

async function ask(
  fetch: typeof globalThis.fetch,
  url: string,
  request: RequestInit,
): Promise<Lease> {
  let response: Response;
  let body: string;
  try {
    const signal = AbortSignal.timeout(answerMs);
    response = await fetch(url, { ...request, signal, redirect: "error" });
    body = await response.text();
  } catch (error) {
    const { message, ...cause } = networkFailure(error, false);
    throw new AuthFailure({
      ...cause,
      message: `no token for Google Cloud: ${message} (at ${url})`,
    });
  }
  return readLease(response.status, body, (name) => response.headers.get(name) ?? undefined);
}

const isKey = {
  accepts: (value: unknown): boolean => {
    const { client_email: email, private_key: pem } = (value ?? {}) as Partial<ServiceAccountKey>;
    return typeof email === "string" && typeof pem === "string" && isPrivateKey(pem);
  },
  fix: "pass the parsed JSON of the key's file, with client_email and an RSA private_key in PEM",
  secret: true,
};

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}
