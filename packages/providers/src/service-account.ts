import { createPrivateKey } from "node:crypto";
import {
  checkOption,
  checkOptions,
  expects,
  plainTransportFault,
  refusal,
  shown,
  transportOf,
} from "@millrace/core/checks";
import type { OptionChecks } from "@millrace/core/checks";
import { systemClock } from "@millrace/core/model";
import type { Clock } from "@millrace/core/ports";
import { redactedUrl, rememberCredential, rememberUrl } from "@millrace/core/secrets";
import { checkNetwork } from "./check-network.ts";
import { failure } from "./failure.ts";
import { isHttpAddress } from "./transport/address.ts";
import { askServer } from "./transport/ask.ts";
import type { Question } from "./transport/ask.ts";
import type { Network } from "./transport/network.ts";
import { keepToken, readLease, signedClaims, tokenFailure } from "./google-token.ts";
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
  /** `true`: another machine may be asked without TLS. Default: `false`, and only this machine's addresses may be `http://`. */
  readonly allowPlain?: boolean | undefined;
  readonly clock?: Clock | undefined;
}

const checks: OptionChecks<TokenOptions> = {
  network: expects.optional(expects.record('use an object such as { proxy: "http://proxy:3128" }')),
  allowPlain: expects.optional(expects.flag),
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
  const { network, allowPlain, clock = systemClock } = options;
  const { client_email: email, private_key: pem, private_key_id: keyId } = key;
  const { token_uri: audience = publicUri } = key;
  rememberUrl(audience);
  const plain = isHttpAddress(audience)
    ? plainTransportFault(transportOf(audience, { secure: "https:", allowPlain }))
    : `${shown(redactedUrl(audience))} is no URL: begin it with https://`;
  if (plain !== undefined) throw refusal(door, `token_uri of the key: ${plain}`);
  const load = async (): Promise<Lease> => {
    const now = Math.floor(clock.now() / 1_000);
    const claims = { iss: email, scope, aud: audience, iat: now, exp: now + 3_600 };
    const assertion = signedClaims(claims, { key: pem, keyId });
    rememberCredential(`the claim of ${email}`, assertion);
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const body = new URLSearchParams({ grant_type, assertion }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return await lease({ url: audience, headers, body }, network);
  };
  return keepToken(load, clock);
}

type MetadataOptions = Pick<TokenOptions, "allowPlain" | "clock">;

const metadataPath = "/computeMetadata/v1/instance/service-accounts/default/token";

/**
 * Access tokens of the machine that the program runs on, for the option `token`: Compute Engine, Cloud Run, GKE.
 * They come from the metadata server, which only such a machine has, and which no proxy reaches. It has no TLS, so
 * `GCE_METADATA_HOST` may name one of Google's addresses or this machine, or another one with `allowPlain: true`.
 */
export function metadataToken(options: MetadataOptions = {}): () => Promise<string> {
  const { network: _, ...own } = checks;
  const door = { name: "metadataToken", from: metadataToken };
  checkOptions<MetadataOptions>(door, options, own);
  const load = async (): Promise<Lease> => {
    const url = `http://${metadataHost(options.allowPlain)}${metadataPath}`;
    return await lease({ url, headers: { "metadata-flavor": "Google" } }, { proxy: false });
  };
  return keepToken(load, options.clock);
}

/** The variable is read for each request. Empty counts as unset: shells unset a variable so. */
function metadataHost(allowPlain: boolean | undefined): string {
  const named = process.env["GCE_METADATA_HOST"] || "metadata.google.internal";
  const isHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(named);
  const host = named.replace(/:\d+$/, "");
  const fault = isHost
    ? plainTransportFault({
        host: metadataHosts.includes(host.toLowerCase()) ? undefined : host,
        encrypted: false,
        allowPlain,
        instead: "unset GCE_METADATA_HOST",
      })
    : `GCE_METADATA_HOST is ${shown(named)}: use a host, or a host and a port`;
  if (fault !== undefined) throw tokenFailure(failure("bad_request", fault));
  return named;
}

/** Google's own. What is sent to them does not leave the machine's host. */
const metadataHosts: readonly string[] = [
  "metadata.google.internal",
  "169.254.169.254",
  "[fd20:ce::254]",
];

async function lease(question: Question, network: Network | undefined): Promise<Lease> {
  const answer = await askServer(question, network);
  if (!("cause" in answer)) return readLease(answer);
  const { message, ...cause } = answer.cause;
  throw tokenFailure({ ...cause, message: `${message} (at ${redactedUrl(question.url)})` });
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
