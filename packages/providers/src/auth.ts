import type { Endpoint } from "./endpoint.ts";
import type { Auth } from "./sign.ts";

/** An API key, or a function that returns one and is called for each request. */
export type Key = string | (() => string | Promise<string>);

/** Options that every vendor entry takes beside the common ones. */
export interface VendorOptions {
  /** Default: the vendor's environment variable. */
  readonly apiKey?: Key | undefined;
  /** Default: the vendor's environment variable, then the vendor's public address. */
  readonly baseUrl?: string | undefined;
}

/** Where a key is found and sent. */
export interface KeyPlace {
  readonly variable: string;
  readonly header: string;
  /** For example `Bearer `. */
  readonly prefix?: string;
  /** True for local servers, which need no key. */
  readonly optional?: boolean;
}

/**
 * Sends a key in a header. Reads the environment for each request, so a key may be set after the
 * model is created.
 */
export function keyAuth(apiKey: Key | undefined, place: KeyPlace): Auth {
  const { variable, header, prefix = "", optional = false } = place;
  return async () => {
    const given = typeof apiKey === "function" ? await apiKey() : apiKey;
    const key = given ?? process.env[variable] ?? "";
    if (key !== "") return { [header]: `${prefix}${key}` };
    return optional ? {} : `there is no key: pass apiKey, or set ${variable}`;
  };
}

/**
 * Sends a token that expires, such as one of a cloud's identity service. It is asked for each request, so its
 * source may keep one and renew it.
 */
export function bearerAuth(token: Key): Auth {
  return async () => {
    const given = typeof token === "function" ? await token() : token;
    if (typeof given === "string" && given !== "") return { authorization: `Bearer ${given}` };
    return "the token is empty: check what the option token returns";
  };
}

/** Returns the base URL of a vendor. Reads the environment for each request, as `keyAuth` does. */
export function vendorEndpoint(
  baseUrl: string | undefined,
  { variable, own }: { readonly variable: string; readonly own: string },
): Endpoint {
  return {
    get baseUrl() {
      // `||`, not `??`: shells unset a variable by making it empty.
      return baseUrl ?? (process.env[variable] || own);
    },
  };
}
