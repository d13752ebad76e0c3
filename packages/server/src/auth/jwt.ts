import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";
import type { CryptoKey, JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from "jose";
import {
  checkOptions,
  expects,
  isLoopback,
  refusePlainTransport,
  transportOf,
} from "@millrace/core/checks";
import type { Identity } from "../http/identity.ts";
import type { Authenticate, HeaderReader } from "./authenticator.ts";
import { fetchKeySet } from "./fetch-key-set.ts";

/** How tokens are checked. */
export interface JwtOptions {
  readonly issuer: string;
  readonly audience: string;
  /** The address of a key set, a key set, one public key, or the bytes of a shared secret. */
  readonly keys: string | URL | JSONWebKeySet | CryptoKey | Uint8Array;
  /**
   * The identity of verified claims. Left out: `tenant` (else `tid`, else `org_id`), `sub` and `roles`.
   * Nothing means no.
   */
  readonly identity?: ((claims: JWTPayload) => Identity | undefined) | undefined;
  /** How far the issuer's clock and this one may differ. 5 s if left out: a token that was just made is valid. */
  readonly toleranceMs?: number | undefined;
}

/** Signatures by key pairs. `none` and mixtures with shared secrets are never taken. */
const asymmetric = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** What is wrong with the token itself. Other errors are of the outside, such as a key server that is away. */
const ofToken = [
  errors.JWTExpired,
  errors.JWTClaimValidationFailed,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
];

/** Admits `Authorization: Bearer` with a token of this issuer for this audience. It must have an expiry. */
export function jwt(options: JwtOptions): Authenticate {
  // An issuer or audience that is missing, such as a variable that is not set, would let any pass.
  checkOptions<JwtOptions>({ name: "jwt", from: jwt }, options, {
    issuer: expects.text("use the address of the issuer, as its tokens have it in iss"),
    audience: expects.text("use the name of this server, as tokens have it in aud"),
    keys: { accepts: isKeys, fix: "pass the address of a key set, a key set, a key or a secret" },
    identity: expects.optional(expects.call()),
    toleranceMs: expects.optional(expects.from0("a number of milliseconds")),
  });
  const { issuer, audience, keys, identity = identityOf, toleranceMs = 5_000 } = options;
  const algorithms = keys instanceof Uint8Array ? ["HS256", "HS384", "HS512"] : asymmetric;
  const clockTolerance = toleranceMs / 1_000; // the library takes seconds
  const requiredClaims = ["exp", "sub"];
  const checks = { issuer, audience, algorithms, clockTolerance, requiredClaims };
  const verify = verifierOf(keys);
  const fromHeaders = async (header: HeaderReader): Promise<Identity | undefined> => {
    const token = bearerOf(header);
    if (token === undefined) return undefined;
    try {
      const { payload } = await verify(token, checks);
      const who = identity(payload);
      const expiresAt = payload.exp === undefined ? undefined : payload.exp * 1_000 + toleranceMs;
      return who && { expiresAt, ...who };
    } catch (error) {
      if (ofToken.some((kind) => error instanceof kind)) return undefined;
      throw error;
    }
  };
  return fromHeaderReader(fromHeaders);
}

function isKeys(keys: unknown): boolean {
  return (typeof keys === "string" && keys !== "") || (typeof keys === "object" && keys !== null);
}

type Verify = (
  token: string,
  checks: Parameters<typeof jwtVerify>[2],
) => Promise<{ readonly payload: JWTPayload }>;

function verifierOf(keys: JwtOptions["keys"]): Verify {
  const getKey = keySetOf(keys);
  if (getKey !== undefined) return (token, checks) => jwtVerify(token, getKey, checks);
  // A key set is none of these, as `keySetOf` has found.
  const key = keys as CryptoKey | Uint8Array;
  return (token, checks) => jwtVerify(token, key, checks);
}

function keySetOf(keys: JwtOptions["keys"]): JWTVerifyGetKey | undefined {
  if (typeof keys === "string" || keys instanceof URL) {
    const url = new URL(keys);
    const { host } = transportOf(url.href, { secure: "https:", allowPlain: false });
    if (url.protocol !== "https:" && !isLoopback(host ?? "")) {
      refusePlainTransport({ host, encrypted: false, allowPlain: false, instead: "use https://" });
    }
    return createRemoteJWKSet(url, { timeoutDuration: 4_000, [customFetch]: fetchKeySet });
  }
  return !(keys instanceof Uint8Array) && "keys" in keys ? createLocalJWKSet(keys) : undefined;
}

function identityOf(claims: JWTPayload): Identity | undefined {
  const { sub: user, roles } = claims;
  const tenant = [claims["tenant"], claims["tid"], claims["org_id"]].find(
    (each) => typeof each === "string",
  );
  if (user === undefined || tenant === undefined) return undefined;
  const named = Array.isArray(roles) ? roles.filter((role) => typeof role === "string") : undefined;
  return { tenant, user, ...(named === undefined ? {} : { roles: named }) };
}

/** The token of `Authorization: Bearer`. */
export function bearerOf(header: HeaderReader): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(header("authorization") ?? "")?.[1];
}

/** An `authenticate` that needs the headers alone. */
export function fromHeaderReader(
  fromHeaders: NonNullable<Authenticate["fromHeaders"]>,
): Authenticate {
  const fromRequest = (request: Request): ReturnType<typeof fromHeaders> =>
    fromHeaders((name) => request.headers.get(name) ?? undefined);
  return Object.assign(fromRequest, { fromHeaders });
}
