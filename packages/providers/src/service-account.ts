import { createPrivateKey } from "node:crypto";
import { checkOption, checkOptions, expects, shown } from "@millrace/core/checks";
import type { OptionChecks } from "@millrace/core/checks";
import { systemClock } from "@millrace/core/model";
import type { Clock } from "@millrace/core/ports";
import { AuthFailure } from "./auth-failure.ts";
import { checkNetwork } from "./check-network.ts";
import { failure } from "./failure.ts";
import { askServer } from "./transport/ask.ts";
import type { Question } from "./transport/ask.ts";
import type { Network } from "./transport/network.ts";
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
  /** Default: the proxy of the environment. */
  readonly network?: Network | undefined;
  readonly clock?: Clock | undefined;
}

const checks: OptionChecks<TokenOptions> = {
  network: expects.optional(expects.record('use an object such as { proxy: "http://proxy:3128" }')),
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
  checkNetwork(door, options);
  const { network, clock = systemClock } = options;
  const { client_email: email, private_key: pem, private_key_id: keyId, token_uri: uri } = key;
  const audience = uri ?? publicUri;
  const load = async (): Promise<Lease> => {
    const now = Math.floor(clock.now() / 1_000);
    const claims = { iss: email, scope, aud: audience, iat: now, exp: now + 3_600 };
    const assertion = signedClaims(claims, { key: pem, keyId });
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const body = new URLSearchParams({ grant_type, assertion }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return await lease({ url: audience, headers, body }, network);
  };
  return keepToken(load, clock);
}

const metadataPath = "/computeMetadata/v1/instance/service-accounts/default/token";

/**
 * Access tokens of the machine that the program runs on, for the option `token`: Compute Engine, Cloud Run, GKE.
 * They come from the metadata server (`GCE_METADATA_HOST` if that is set), which only such a machine has, and
 * which no proxy reaches.
 */
export function metadataToken(options: Pick<TokenOptions, "clock"> = {}): () => Promise<string> {
  const { network: _, ...own } = checks;
  const door = { name: "metadataToken", from: metadataToken };
  checkOptions<Pick<TokenOptions, "clock">>(door, options, own);
  const load = async (): Promise<Lease> => {
    const url = `http://${metadataHost()}${metadataPath}`;
    return await lease({ url, headers: { "metadata-flavor": "Google" } }, { proxy: false });
  };
  return keepToken(load, options.clock);
}

/** The variable is read for each request. Empty counts as unset: shells unset a variable so. */
function metadataHost(): string {
  const named = process.env["GCE_METADATA_HOST"] || "metadata.google.internal";
  if (/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(named)) return named;
  const message = `GCE_METADATA_HOST is ${shown(named)}: use a host, or a host and a port`;
  throw new AuthFailure(failure("bad_request", message));
}

async function lease(question: Question, network: Network | undefined): Promise<Lease> {
  const answer = await askServer(question, network);
  if (!("cause" in answer)) return readLease(answer);
  const { message, ...cause } = answer.cause;
  const text = `no token for Google Cloud: ${message} (at ${question.url})`;
  throw new AuthFailure({ ...cause, message: text });
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
