import type { Auth, Endpoint } from "./provider.ts";

/** A key, or where to get one each time. */
export type Key = string | (() => string | Promise<string>);

/** What every vendor's entry takes besides the common options. */
export interface VendorOptions {
  /** Left out: the vendor's environment variable. */
  readonly apiKey?: Key | undefined;
  /** Left out: the vendor's environment variable, and then the vendor's own address. */
  readonly baseUrl?: string | undefined;
}

export interface KeyPlace {
  readonly variable: string;
  readonly header: string;
  /** As `Bearer `. */
  readonly prefix?: string;
  /** Servers on one's own machine need no key. */
  readonly optional?: boolean;
}

/** Sends a key in a header. The environment is read for each request, not when the model is made. */
export function keyAuth(apiKey: Key | undefined, place: KeyPlace): Auth {
  const { variable, header, prefix = "", optional = false } = place;
  return async () => {
    const given = typeof apiKey === "function" ? await apiKey() : apiKey;
    const key = given ?? process.env[variable] ?? "";
    if (key !== "") return { [header]: `${prefix}${key}` };
    return optional ? {} : `there is no key: pass apiKey, or set ${variable}`;
  };
}

/** Where a vendor is. The environment is read for each request, as it is for the key. */
export function vendorEndpoint(
  baseUrl: string | undefined,
  { variable, own }: { readonly variable: string; readonly own: string },
): Endpoint {
  return {
    get baseUrl() {
      // An empty variable is how a shell unsets one.
      return baseUrl ?? (process.env[variable] || own);
    },
  };
}
