import type { Auth, Endpoint } from "./provider.ts";

/** An API key, or a function that returns one and is called for each request. */
export type Key = string | (() => string | Promise<string>);

/** Options that every vendor entry takes beside the common ones. */
export interface VendorOptions {
  /** Default: the vendor's environment variable. */
  readonly apiKey?: Key | undefined;
  /** Default: the vendor's environment variable, then the vendor's public address. */
  readonly baseUrl?: string | undefined;
}

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
