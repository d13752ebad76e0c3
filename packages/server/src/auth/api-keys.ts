import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Identity } from "../http/identity.ts";
import type { MaybePromise } from "../http/types.ts";
import type { Authenticate } from "./authenticator.ts";
import { bearerOf, fromHeaderReader } from "./jwt.ts";

/** What an application stores of a key: never the key. */
export interface StoredApiKey extends Identity {
  /** The `hash` of `createApiKey`. */
  readonly hash: string;
}

/** Where keys are looked up. */
export interface ApiKeyOptions {
  /** The stored key of an id. */
  readonly find: (id: string) => MaybePromise<StoredApiKey | undefined>;
  /** What keys begin with, so that scanners find leaked ones. `millrace` if left out. */
  readonly prefix?: string | undefined;
}

/** A new key. It is shown once; `id` and `hash` are stored. */
export interface ApiKey {
  readonly key: string;
  readonly id: string;
  readonly hash: string;
}

/** Makes a key of 256 random bits. */
export function createApiKey(prefix = "millrace"): ApiKey {
  const id = randomBytes(9).toString("hex");
  const key = `${prefix}.${id}.${randomBytes(32).toString("base64url")}`;
  return { key, id, hash: hashOf(key).toString("hex") };
}

/** Admits `Authorization: Bearer` with a key whose hash is stored. An unknown id costs what a wrong key costs. */
export function apiKeys({ find, prefix = "millrace" }: ApiKeyOptions): Authenticate {
  return fromHeaderReader(async (header) => {
    const key = bearerOf(header);
    const [given, id = "", secret, ...more] = key?.split(".") ?? [];
    if (key === undefined || given !== prefix || secret === undefined || more.length > 0) {
      return undefined;
    }
    const stored = await find(id);
    const expected = Buffer.from(stored?.hash ?? "", "hex");
    const actual = hashOf(key);
    const known = expected.length === actual.length ? expected : randomBytes(actual.length);
    if (!timingSafeEqual(known, actual) || stored === undefined) return undefined;
    const { tenant, user, roles, expiresAt } = stored;
    return { tenant, user, roles, expiresAt };
  });
}

function hashOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
