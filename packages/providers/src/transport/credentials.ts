import { rememberCredential } from "@millrace/core/secrets";
import type { Exchange } from "./exchange.ts";

/** Names of headers and of query parameters that hold credentials. */
const secretName = /auth|cookie|credential|key|pass|secret|signature|token/i;

/**
 * Makes the credentials of a request known to this process, so that no error, log line or span repeats
 * them: those in its headers and in its URL. `proof` are the headers that its `auth` has made.
 */
export function rememberCredentials(
  { url, headers }: Pick<Exchange, "url" | "headers">,
  proof: Readonly<Record<string, string>>,
): void {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const host = address?.host ?? "a model's server";
  for (const [name, value] of Object.entries(headers)) {
    if (!secretName.test(name)) continue;
    rememberHeader(`the header ${name} of ${host}`, value);
  }
  for (const [name, value] of Object.entries(proof)) {
    rememberHeader(`the header ${name} of ${host}`, value);
  }
  if (address === undefined) return;
  const { username, password, searchParams } = address;
  rememberCredential(`the password of ${host}`, decoded(password));
  if (password === "") rememberCredential(`the user of ${host}`, decoded(username));
  for (const [name, value] of searchParams) {
    if (secretName.test(name)) rememberCredential(`the parameter ${name} of ${host}`, value);
  }
}

/**
 * A header's whole value, what follows its scheme, each field of it such as a cookie, and the password of
 * basic authentication.
 */
function rememberHeader(name: string, value: string): void {
  const [, scheme = "", rest = value] = /^(\S+) +(\S.*)$/.exec(value) ?? [];
  const fields = value.split(/[\s;,]+/);
  const pair = scheme.toLowerCase() === "basic" ? Buffer.from(rest, "base64").toString() : "";
  for (const found of [value, rest, ...fields, pair]) {
    rememberCredential(name, found);
    rememberCredential(name, found.slice(found.indexOf("=") + 1).replaceAll('"', ""));
  }
  rememberCredential(name, pair.slice(pair.indexOf(":") + 1));
}

/** URLs hold credentials encoded. One that can't be decoded stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
